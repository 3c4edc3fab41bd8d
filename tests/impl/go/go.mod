module o2ref/impl

go 1.19
