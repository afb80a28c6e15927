//! Types of elements, by the names that Flight Recorder dumps use.

/// The type of a buffer's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DataType {
    /// Not told, or one that no dump has a name for.
    Unknown,
    /// 8 bits, signed.
    Char,
    /// 8 bits, unsigned; also bytes of which nothing else is known.
    Byte,
    /// 16 bits, signed.
    Short,
    /// 16 bits, unsigned.
    UInt16,
    /// 32 bits, signed.
    Int,
    /// 32 bits, unsigned.
    UInt32,
    /// 64 bits, signed.
    Long,
    /// 64 bits, unsigned.
    UInt64,
    /// 16 bits, IEEE 754.
    Half,
    /// 16 bits with the exponent of 32.
    BFloat16,
    /// 32 bits, IEEE 754.
    Float,
    /// 64 bits, IEEE 754.
    Double,
    /// 8 bits: 4 of exponent, 3 of mantissa.
    Float8E4m3,
    /// 8 bits: 5 of exponent, 2 of mantissa.
    Float8E5m2,
    /// Truth values.
    Bool,
    /// Two `Float`.
    ComplexFloat,
    /// Two `Double`.
    ComplexDouble,
}

impl DataType {
    const ALL: [Self; 18] = [
        Self::Unknown,
        Self::Char,
        Self::Byte,
        Self::Short,
        Self::UInt16,
        Self::Int,
        Self::UInt32,
        Self::Long,
        Self::UInt64,
        Self::Half,
        Self::BFloat16,
        Self::Float,
        Self::Double,
        Self::Float8E4m3,
        Self::Float8E5m2,
        Self::Bool,
        Self::ComplexFloat,
        Self::ComplexDouble,
    ];

    /// The name in dumps.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "Unknown",
            Self::Char => "Char",
            Self::Byte => "Byte",
            Self::Short => "Short",
            Self::UInt16 => "UInt16",
            Self::Int => "Int",
            Self::UInt32 => "UInt32",
            Self::Long => "Long",
            Self::UInt64 => "UInt64",
            Self::Half => "Half",
            Self::BFloat16 => "BFloat16",
            Self::Float => "Float",
            Self::Double => "Double",
            Self::Float8E4m3 => "Float8_e4m3fn",
            Self::Float8E5m2 => "Float8_e5m2",
            Self::Bool => "Bool",
            Self::ComplexFloat => "ComplexFloat",
            Self::ComplexDouble => "ComplexDouble",
        }
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::DataType;

    #[test]
    fn codes_lead_back() {
        for (code, dtype) in DataType::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(dtype.code()), code);
            assert_eq!(DataType::from_code(dtype.code()), dtype);
        }
        assert_eq!(DataType::from_code(200), DataType::Unknown);
    }
}
