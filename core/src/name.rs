//! Names for logs and labels.

/// An enum whose variants have names: the one place where they stand.
macro_rules! named {
    ($(#[$about:meta])* pub enum $enum:ident { $($(#[$meaning:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $enum {
            $($(#[$meaning])* #[cfg_attr(feature = "serde", serde(rename = $name))] $variant,)*
        }

        impl $enum {
            /// The name in lower case with underscores, as displayed, for logs and labels.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl core::fmt::Display for $enum {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use named;
