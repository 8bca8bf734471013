import type { FilePass } from '../../shared/exportFile/filePass.ts';
import { type TallyOptions, tallyExport } from '../../shared/exportFile/inspection.ts';

/**
 * @param json yields the file without a manifest. The last byte of this file must be the closing brace
 * @param describe returns the manifest. Called after `json` has ended
 */
export async function* withManifest(
  json: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  describe: (pass: FilePass) => Promise<object> | object,
  listeners?: TallyOptions,
): AsyncGenerator<Uint8Array> {
  const pass = tallyExport({ open: () => json }, signal, listeners);
  let held: Uint8Array | undefined;
  for (;;) {
    const { done, value } = await pass.next();
    if (held !== undefined) yield done === true ? held.subarray(0, -1) : held;
    if (done === true) {
      yield Buffer.from(`,"manifest":${JSON.stringify(await describe(value))}}\n`);
      return;
    }
    held = value;
  }
}
