//! Arrays as gfortran describes them.
//!
//! The one idea: what is read lies in the program's memory, in the layout of gcc 8 and later; counts in it are bounded
//! before anything is made of them.

/// `gfc_descriptor_t`, but for the dimensions behind it.
#[repr(C)]
pub(super) struct Descriptor {
    pub(super) base: usize,
    offset: usize,
    /// Bytes of an element.
    pub(super) element: usize,
    version: i32,
    rank: i8,
    pub(super) code: i8,
    attribute: i16,
    span: isize,
}

const _: () = assert!(size_of::<Descriptor>() == 40);

/// A dimension; the stride counts elements.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Dimension {
    pub(super) stride: isize,
    pub(super) lower: isize,
    pub(super) upper: isize,
}

/// `GFC_MAX_DIMENSIONS`.
pub(super) const MAX_RANK: usize = 15;

impl Dimension {
    /// How many there are along it.
    pub(super) fn extent(&self) -> u64 {
        u64::try_from(self.upper.saturating_sub(self.lower).saturating_add(1)).unwrap_or(0)
    }
}

impl Descriptor {
    /// The descriptor at an address of the program's; `None` if there is none.
    ///
    /// # Safety
    /// The address is 0, or that of a descriptor that outlives what is returned.
    pub(super) unsafe fn at<'a>(address: usize) -> Option<&'a Self> {
        // SAFETY: the caller's promise.
        unsafe { (address as *const Self).as_ref() }
    }

    /// Its dimensions; none of one that makes no sense.
    pub(super) fn dimensions(&self) -> &[Dimension] {
        let rank = usize::try_from(self.rank).ok().filter(|rank| *rank <= MAX_RANK).unwrap_or(0);
        // SAFETY: the dimensions lie behind, as many as the rank says.
        unsafe {
            let behind = core::ptr::from_ref(self).add(1).cast::<Dimension>();
            core::slice::from_raw_parts(behind, rank)
        }
    }

    /// How many elements it has.
    pub(super) fn elements(&self) -> u64 {
        self.dimensions().iter().map(Dimension::extent).fold(1, u64::saturating_mul)
    }

    /// Lower bound and extent of each dimension.
    pub(super) fn bounds(&self) -> Vec<(i64, u64)> {
        self.dimensions().iter().map(|dimension| (dimension.lower as i64, dimension.extent())).collect()
    }
}
