// Tests of GraphReport.
