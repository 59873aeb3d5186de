// Tests of HeapCapture.
