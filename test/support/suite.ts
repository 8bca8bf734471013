import { startVitest, type TestCase } from 'vitest/node';

/** A selection of tests to run. */
interface Suite {
  /** The suite of `vitest.config.ts` with the projects; by default that of `npm run test:all`. */
  readonly mode?: 'test' | 'all';
  readonly projects: readonly string[];
  /** Parts of the paths of the test files; by default all files. */
  readonly files?: readonly string[];
  /** A part of the names of the tests; by default all tests. */
  readonly testNamePattern?: string;
  readonly maxWorkers?: number;
}

/** Runs tests to their end, and returns them with their notes. */
export async function runSuite({
  projects,
  mode = 'all',
  files = [],
  ...options
}: Suite): Promise<readonly TestCase[]> {
  const vitest = await startVitest('test', [...files], {
    mode,
    project: [...projects],
    watch: false,
    passWithNoTests: true,
    ...options,
  });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  await vitest.close();
  return tests;
}
