// Tests of Symbolication.
