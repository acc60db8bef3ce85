/** What coverage tools print, each with the figure that is to be read from it: of several the lowest. */

const text = (parts: TemplateStringsArray) => parts.raw.join('').replace(/^\n/, '').replaceAll('\\t', '\t');

export const COVERAGE_OUTPUTS: readonly { readonly tool: string; readonly output: string; readonly figure: number }[] =
	[
		{
			tool: 'coverage.py report',
			figure: 0.87,
			output: text`
Name                      Stmts   Miss  Cover   Missing
-------------------------------------------------------
coverage_missing.py          20      4    80%   33-35, 39
my_other_module.py           56      6    89%   17-23
-------------------------------------------------------
TOTAL                        76     10    87%
`,
		},
		{
			tool: 'coverage.py report with branches and decimals, complete files left out',
			figure: 0.8446,
			output: text`
Name           Stmts   Miss Branch BrPart    Cover
--------------------------------------------------
src/app.py        38      3     14      2   87.50%
--------------------------------------------------
TOTAL             91     12     14      2   84.46%

3 files skipped due to complete coverage.
`,
		},
		{
			tool: 'coverage.py report as Markdown',
			figure: 0.87,
			output: text`
| Name          |    Stmts |     Miss |   Cover |
|-------------- | -------: | -------: | ------: |
| my_program.py |       20 |        4 |     80% |
| **TOTAL**     |   **76** |   **10** | **87%** |
`,
		},
		{
			tool: 'pytest-cov',
			figure: 0.88,
			output: text`
============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.2.0, pluggy-1.5.0
plugins: cov-5.0.0
collected 12 items

tests/test_coverage.py ......                                            [ 50%]
tests/test_lines.py ......                                               [100%]

---------- coverage: platform linux, python 3.12.3-final-0 -----------
Name                 Stmts   Miss  Cover
----------------------------------------
src/app/lines.py        40      8    80%
src/app/coverage.py     66      4    94%
----------------------------------------
TOTAL                  106     12    88%
Coverage XML written to file coverage.xml

Required test coverage of 80.0% reached. Total coverage: 88.68%
============================== 12 passed in 0.93s ==============================
`,
		},
		{
			tool: 'pytest-cov that found too little, where the exit code is ignored',
			figure: 0.75,
			output: text`
FAIL Required test coverage of 90% not reached. Total coverage: 75.00%
`,
		},
		{
			tool: 'istanbul, nyc and jest: text',
			figure: 0.125,
			output: text`
----------------------|---------|----------|---------|---------|-------------------
File                  | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s
----------------------|---------|----------|---------|---------|-------------------
All files             |    12.5 |       95 |      90 |    12.5 |
 coverage             |       0 |      100 |     100 |       0 | 1-8
  lines.ts            |       0 |      100 |     100 |       0 | 1-8
 coverage-figure.ts   |     100 |      100 |     100 |     100 |
----------------------|---------|----------|---------|---------|-------------------

Test Suites: 1 passed, 1 total
Tests:       5 passed, 5 total
Snapshots:   0 total
Time:        0.95 s, estimated 1 s
Ran all test suites.
`,
		},
		{
			tool: 'vitest with v8',
			figure: 0.7142,
			output: text`
 RUN  v3.2.4 /app
      Coverage enabled with v8

 ✓ test/a.test.ts (3 tests) 5ms

 Test Files  1 passed (1)
      Tests  3 passed (3)
   Duration  312ms (transform 50ms, setup 0ms, collect 40ms, tests 5ms)

 % Coverage report from v8
----------|---------|----------|---------|---------|-------------------
File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s
----------|---------|----------|---------|---------|-------------------
All files |   83.33 |    71.42 |     100 |   83.33 |
 a.ts     |   83.33 |    71.42 |     100 |   83.33 | 12-14
----------|---------|----------|---------|---------|-------------------
`,
		},
		{
			tool: 'istanbul: text-summary',
			figure: 0.12,
			output: text`

=============================== Coverage summary ===============================
Statements   : 12% ( 12/100 )
Branches     : 95% ( 19/20 ), 1 ignored
Functions    : 95% ( 19/20 )
Lines        : 95% ( 95/100 )
================================================================================
`,
		},
		{
			tool: 'istanbul: text-summary of code without branches',
			figure: 0.9,
			output: text`
Statements   : 90% ( 9/10 )
Branches     : 100% ( 0/0 )
Functions    : 100% ( 2/2 )
Lines        : 90% ( 9/10 )
`,
		},
		{
			tool: 'istanbul: json-summary',
			figure: 0.75,
			output: text`
{"total": {"lines":{"total":160,"covered":133,"skipped":0,"pct":83.12},"statements":{"total":170,"covered":140,"skipped":0,"pct":82.35},"functions":{"total":20,"covered":15,"skipped":0,"pct":75},"branches":{"total":0,"covered":0,"skipped":0,"pct":100},"branchesTrue":{"total":0,"covered":0,"skipped":0,"pct":"Unknown"}}
,"/app/src/a.js": {"lines":{"total":10,"covered":1,"skipped":0,"pct":10},"functions":{"total":1,"covered":0,"skipped":0,"pct":0},"statements":{"total":10,"covered":1,"skipped":0,"pct":10},"branches":{"total":0,"covered":0,"skipped":0,"pct":100}}
}
`,
		},
		{
			tool: 'node --test --experimental-test-coverage',
			figure: 0.8,
			output: text`
# duration_ms 77.826367
# start of coverage report
# -----------------------------------------------------------
# file       | line % | branch % | funcs % | uncovered lines
# -----------------------------------------------------------
# a.mjs      | 100.00 |    66.67 |  100.00 |
# a.test.mjs | 100.00 |   100.00 |  100.00 |
# -----------------------------------------------------------
# all files  | 100.00 |    80.00 |  100.00 |
# -----------------------------------------------------------
# end of coverage report
`,
		},
		{
			tool: 'lcov --summary',
			figure: 0.12,
			output: text`
Reading tracefile coverage.info
Summary coverage rate:
  lines......: 12.0% (12 of 100 lines)
  functions..: 95.0% (19 of 20 functions)
  branches...: no data found
`,
		},
		{
			tool: 'lcov --list',
			figure: 0.831,
			output: text`
Reading tracefile coverage.info
                    |Lines       |Functions  |Branches
Filename            |Rate     Num|Rate    Num|Rate     Num
==========================================================
[/home/me/src/]
coverage.c          |83.1%    160|95.0%    20|    -      0
==========================================================
              Total:|83.1%    160|95.0%    20|    -      0
`,
		},
		{
			tool: 'go test -cover',
			figure: 0.12,
			output: text`
ok  \texample.com/app/coverage\t0.005s\tcoverage: 12.0% of statements
ok  \texample.com/app/lines\t(cached)\tcoverage: 95.0% of statements in ./...
ok  \tapp\t0.010s\tcoverage: [no statements]
?   \texample.com/app/types\t[no test files]
`,
		},
		{
			tool: 'go test -cover with a package without tests',
			figure: 0,
			output: text`
\texample.com/app/types\t\tcoverage: 0.0% of statements
ok  \texample.com/app\t0.005s\tcoverage: 95.0% of statements
`,
		},
		{
			tool: 'go tool cover -func',
			figure: 0.831,
			output: text`
example.com/app/main.go:12:\t\tmain\t\t\t0.0%
example.com/app/coverage.go:7:\tCoverage\t\t50.0%
total:\t\t\t\t\t(statements)\t\t83.1%
`,
		},
		{
			tool: 'cargo tarpaulin',
			figure: 0.831,
			output: text`
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.95s

2024-12-01T11:58:09.827358Z  INFO cargo_tarpaulin::report: Coverage Results:
|| Uncovered Lines:
|| src/lines.rs: 65, 97, 106, 110-114
|| Tested/Total Lines:
|| src/coverage.rs: 98/100 +0.00%
|| src/lines.rs: 35/60 +1.67%
||
83.10% coverage, 133/160 lines covered, +0.62% change in coverage
`,
		},
		{
			tool: 'cargo llvm-cov',
			figure: 0.8065,
			output: text`
Filename       Regions    Missed Regions     Cover   Functions  Missed Functions  Executed       Lines      Missed Lines     Cover    Branches   Missed Branches     Cover
------------------------------------------------------------------------------------------------------------------------------------------------------------------------
coverage.rs         62                12    80.65%          20                 1    95.00%         160                27    83.12%           0                 0         -
------------------------------------------------------------------------------------------------------------------------------------------------------------------------
TOTAL               62                12    80.65%          20                 1    95.00%         160                27    83.12%           0                 0         -
`,
		},
		{
			tool: 'simplecov',
			figure: 0.12,
			output: text`
Finished in 0.95 seconds (files took 0.1 seconds to load)
5 examples, 0 failures

Coverage report generated for RSpec to /app/coverage.
Line Coverage: 12.0% (12 / 100)
Branch Coverage: 95.0% (19 / 20)
`,
		},
		{
			tool: 'simplecov before 0.13 of its formatter',
			figure: 0.4685,
			output: text`
Coverage report generated for (1/10), (10/10) to /app/v1.2/coverage. 8534 / 16083 LOC (53.06%) covered. 2225 / 4749 branches (46.85%) covered.
`,
		},
		{
			tool: 'simplecov-console',
			figure: 0.9977,
			output: text`
COVERAGE: 100.00% -- 1743/1743 lines in 108 files
BRANCH COVERAGE:  99.77% -- 434/435 branches in 108 branches
`,
		},
		{
			tool: 'dotnet test with coverlet',
			figure: 0.75,
			output: text`
Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5, Duration: 95 ms - app.tests.dll (net8.0)

Calculating coverage result...
  Generating report '/app/coverage.json'

+--------+--------+--------+--------+
| Module | Line   | Branch | Method |
+--------+--------+--------+--------+
| app    | 83.1%  | 75%    | 90%    |
+--------+--------+--------+--------+

+---------+--------+--------+--------+
|         | Line   | Branch | Method |
+---------+--------+--------+--------+
| Total   | 83.1%  | 75%    | 90%    |
+---------+--------+--------+--------+
| Average | 83.1%  | 75%    | 90%    |
+---------+--------+--------+--------+
`,
		},
		{
			tool: 'PHPUnit',
			figure: 0.5,
			output: text`
Code Coverage Report:
  2024-01-01 10:00:00

 Summary:
  Classes: 50.00% (1/2)
  Methods: 75.00% (3/4)
  Lines:   83.33% (10/12)

App\Foo
  Methods:  50.00% ( 1/ 2)   Lines:  80.00% (  4/  5)
`,
		},
		{
			tool: 'mix test --cover',
			figure: 0.831,
			output: text`
Percentage | Module
-----------|--------------------------
   100.00% | App.Coverage
    66.20% | App.Lines
-----------|--------------------------
    83.10% | Total
`,
		},
	];
