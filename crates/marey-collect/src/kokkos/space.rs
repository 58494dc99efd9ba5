//! Where kernels run and Views lie.
//!
//! The one idea: what happens on the host, as most of it does, is called by its own name alone; the name of another space is
//! added where there is one, so that the same kernel on a processor and on a device are two.

use core::ffi::c_char;

/// `Kokkos_Profiling_SpaceHandle`, which is handed over by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct SpaceHandle {
    name: [c_char; 64],
}

/// What `HostSpace::name()` says.
const HOST: &str = "Host";

impl SpaceHandle {
    /// The bytes of what the space is called. The last one may never have been written.
    fn bytes(&self) -> impl Iterator<Item = u8> {
        self.name[..63].iter().map(|byte| byte.cast_unsigned()).take_while(|byte| *byte != 0)
    }

    /// What the space is called.
    pub(super) fn name(&self) -> String {
        String::from_utf8_lossy(&self.bytes().collect::<Vec<u8>>()).into_owned()
    }

    /// Whether its memory is the process's own.
    pub(super) fn is_host(&self) -> bool {
        self.bytes().eq(HOST.bytes())
    }

    /// What tells Views of one label apart that lie in several spaces; 0 for the host's.
    pub(super) fn told(&self) -> u32 {
        let of = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        if self.is_host() { 0 } else { self.bytes().fold(0x811c_9dc5, of).max(1) }
    }
}

/// What a View or a kernel is called that lies or runs in a space.
pub(super) fn in_space(name: &str, space: &str) -> String {
    if space == HOST || space.is_empty() || name.is_empty() {
        name.to_owned()
    } else {
        format!("{name} in {space}")
    }
}

/// Kinds of execution spaces by their codes, with whether they are a host's.
const KINDS: [(&str, bool); 9] = [
    ("Serial", true),
    ("OpenMP", true),
    ("Cuda", false),
    ("HIP", false),
    ("OpenMPTarget", false),
    ("HPX", true),
    ("Threads", true),
    ("SYCL", false),
    ("OpenACC", false),
];

/// The execution space that an id stands for, as it is told behind the name of a kernel; empty for the host's.
///
/// The highest byte is the kind. Since version 3.6 seven bits follow that say which device, and 17 which instance (a stream
/// or queue); before, all 24 said which instance, of which programs had few, so that they read the same.
pub(super) fn of_device(id: u32) -> String {
    let (kind, device, instance) = (id >> 24, id >> 17 & 0x7f, id & 0x1_ffff);
    let Some(&(name, is_host)) = KINDS.get(kind as usize) else { return String::new() };
    match (is_host, device, instance) {
        (true, ..) => String::new(),
        (false, 0, 0) => name.to_owned(),
        (false, 0, instance) => format!("{name}, instance {instance}"),
        (false, device, instance) => format!("{name} device {device}, instance {instance}"),
    }
}

/// What of an id makes two kernels of one name two: nothing on the host.
pub(super) fn told(id: u32) -> u32 {
    if KINDS.get((id >> 24) as usize).is_none_or(|(_, is_host)| *is_host) { 0 } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids as Kokkos makes them: `device_id` in its `Kokkos_Profiling_Interface.hpp`, of 3.4 and of 4.0.
    #[test]
    fn devices_are_told_and_the_host_is_not() {
        let of_3 = |kind: u32, instance: u32| of_device((kind << 24) + instance);
        let of_4 = |kind: u32, device: u32, instance: u32| of_device(kind << 24 | device << 17 | instance);
        assert_eq!((of_3(0, 0).as_str(), of_3(1, 3).as_str(), of_4(6, 0, 1).as_str()), ("", "", ""));
        assert_eq!((of_3(2, 0).as_str(), of_3(3, 7).as_str()), ("Cuda", "HIP, instance 7"));
        assert_eq!(of_4(2, 3, 5), "Cuda device 3, instance 5");
        assert_eq!(of_device(u32::MAX), "");
        assert_eq!((told(3), told(u32::MAX), told(2 << 24)), (0, 0, 2 << 24));
    }

    #[test]
    fn memory_that_is_not_the_hosts_is_told() {
        let mut handle = SpaceHandle { name: [b'x'.cast_signed(); 64] };
        assert_eq!(handle.name().len(), 63);
        for (at, byte) in b"CudaUVM\0".iter().enumerate() {
            handle.name[at] = byte.cast_signed();
        }
        assert_eq!((handle.name().as_str(), handle.is_host()), ("CudaUVM", false));
        assert_eq!(
            (in_space("u", "CudaUVM").as_str(), in_space("u", "Host").as_str()),
            ("u in CudaUVM", "u")
        );
        assert_eq!(in_space("", "CudaUVM"), "");
    }
}
