import { startVitest, type TestCase } from 'vitest/node';

/** The tests that a program runs. */
interface Suite {
  /** The projects of `vitest.config.ts` or `vitest.all.config.ts`. */
  readonly projects: readonly string[];
  readonly config?: 'vitest.config.ts' | 'vitest.all.config.ts';
  /** Parts of the paths of the test files; all by default. */
  readonly files?: readonly string[];
  /** A part of the names of the tests; all by default. */
  readonly testNamePattern?: string;
  readonly maxWorkers?: number;
}

/** Runs tests to their end, and returns them with their notes. */
export async function runSuite({
  projects,
  config = 'vitest.all.config.ts',
  files = [],
  ...options
}: Suite): Promise<readonly TestCase[]> {
  const vitest = await startVitest('test', [...files], {
    config,
    project: [...projects],
    watch: false,
    passWithNoTests: true,
    ...options,
  });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  await vitest.close();
  return tests;
}
