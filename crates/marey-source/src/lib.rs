//! Program database of marey: functions, files and lines for recorded addresses.
