import { tmpdir } from 'node:os';
import { createBodyStorage } from '../../shared/http/receivedBody.ts';
import type { ExportContent } from './place.ts';

/** Larger files are kept in an unnamed temporary file. */
const MEMORY_BYTES = 8 * 1024 * 1024;

/** Returns content that can be read repeatedly: the same, or a copy of what can be read once. */
export async function repeatable(content: ExportContent, signal: AbortSignal): Promise<ExportContent> {
  if (content.isRepeatable) return content;
  const storage = createBodyStorage(MEMORY_BYTES, tmpdir());
  try {
    for await (const chunk of content.open(signal)) await storage.append(chunk);
  } catch (error) {
    await storage.discard();
    throw error;
  }
  const copy = await storage.finish();
  return { isRepeatable: true, open: () => copy.open(), [Symbol.asyncDispose]: () => copy.close() };
}
