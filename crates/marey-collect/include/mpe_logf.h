!
!  mpe_logf.h -- the logging calls of MPE for Fortran, fixed or free form.
!
!  Include it where MPE's file of this name was included, and compile
!  mpe_fortran.c with the program instead of linking an MPE library.
!
      integer MPE_LOG_OK, MPE_LOG_LOCKED_OUT
      parameter (MPE_LOG_OK = 0, MPE_LOG_LOCKED_OUT = 1)
      integer MPE_LOG_NO_MEMORY, MPE_LOG_FILE_PROB
      parameter (MPE_LOG_NO_MEMORY = 2, MPE_LOG_FILE_PROB = 3)
      integer MPE_LOG_NOT_INITIALIZED, MPE_LOG_PACK_FAIL
      parameter (MPE_LOG_NOT_INITIALIZED = 4, MPE_LOG_PACK_FAIL = 5)

      integer MPE_Init_log, MPE_Initialized_logging, MPE_Finish_log
      external MPE_Init_log, MPE_Initialized_logging, MPE_Finish_log
      integer MPE_Start_log, MPE_Stop_log, MPE_Log_sync_clocks
      external MPE_Start_log, MPE_Stop_log, MPE_Log_sync_clocks
      integer MPE_Log_get_event_number, MPE_Log_get_state_eventIDs
      external MPE_Log_get_event_number, MPE_Log_get_state_eventIDs
      integer MPE_Log_get_solo_eventID, MPE_Log_pack
      external MPE_Log_get_solo_eventID, MPE_Log_pack
      integer MPE_Describe_state, MPE_Describe_info_state
      external MPE_Describe_state, MPE_Describe_info_state
      integer MPE_Describe_event, MPE_Describe_info_event
      external MPE_Describe_event, MPE_Describe_info_event
      integer MPE_Describe_comm_state, MPE_Describe_comm_event
      external MPE_Describe_comm_state, MPE_Describe_comm_event
      integer MPE_Log_event, MPE_Log_bare_event, MPE_Log_info_event
      external MPE_Log_event, MPE_Log_bare_event, MPE_Log_info_event
      integer MPE_Log_comm_event, MPE_Log_send, MPE_Log_receive
      external MPE_Log_comm_event, MPE_Log_send, MPE_Log_receive
