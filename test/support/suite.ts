import { startVitest, type TestCase } from 'vitest/node';

/** Which tests a program runs. */
interface Suite {
  readonly projects: readonly string[];
  /** Parts of the paths of the test files; all by default. */
  readonly files?: readonly string[];
  readonly maxWorkers?: number;
}

/** Runs tests to their end, and returns them with what they have noted. */
export async function runSuite({ projects, files = [], maxWorkers }: Suite): Promise<readonly TestCase[]> {
  const workers = maxWorkers === undefined ? {} : { maxWorkers };
  const vitest = await startVitest('test', [...files], { project: [...projects], watch: false, ...workers });
  const tests = vitest.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
  await vitest.close();
  return tests;
}
