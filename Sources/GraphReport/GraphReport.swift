// GraphReport
