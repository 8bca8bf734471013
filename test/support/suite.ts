import { startVitest, type TestCase } from 'vitest/node';

/** Which tests a program runs. */
interface Suite {
  readonly projects: readonly string[];
  /** Parts of the paths of the test files; all by default. */
  readonly files?: readonly string[];
  /** A part of the names of the tests; all by default. */
  readonly testNamePattern?: string;
  readonly maxWorkers?: number;
}

/** Runs tests to their end, and returns them with what they have noted. */
export async function runSuite({ projects, files = [], ...options }: Suite): Promise<readonly TestCase[]> {
  const vitest = await startVitest('test', [...files], {
    config: 'vitest.all.config.ts',
    project: [...projects],
    watch: false,
    ...options,
  });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  await vitest.close();
  return tests;
}
