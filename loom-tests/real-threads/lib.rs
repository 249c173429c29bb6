//! Nothing but a package for tests to stand in.
