import { Session } from 'node:inspector/promises';
import { relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Records which files' functions run in this process. */
export interface Coverage {
  /** Returns the files below `root` of which at least one function is called while `work` runs, by their paths in it. */
  filesPassed(work: () => Promise<void>): Promise<readonly string[]>;
  [Symbol.dispose](): void;
}

/** Starts V8's precise coverage of this process; `root` is an absolute path. */
export async function startCoverage(root: string): Promise<Coverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  const below = pathToFileURL(`${root}${sep}`).href;
  return {
    async filesPassed(work) {
      // Taking the counts sets them to zero.
      await session.post('Profiler.takePreciseCoverage');
      await work();
      // The server ends its part of the exchange in the same turn of the event loop.
      await setImmediate();
      const { result } = await session.post('Profiler.takePreciseCoverage');
      const passed = result.filter(({ url, functions }) => url.startsWith(below) && functions.some(wasCalled));
      return passed.map(({ url }) => relative(root, fileURLToPath(url)).replaceAll(sep, '/')).sort();
    },
    [Symbol.dispose]: () => session.disconnect(),
  };
}

/** Whether a function other than the module's own was called; the module's own begins where its file does. */
function wasCalled({ ranges: [whole] }: { ranges: { startOffset: number; count: number }[] }): boolean {
  return whole !== undefined && whole.startOffset > 0 && whole.count > 0;
}
