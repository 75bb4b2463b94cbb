// Settings of the tests' process, made before its main function: see CTestDefaults.c.
