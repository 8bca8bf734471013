import { closeSync, createReadStream, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseIfJson } from '../../json/jsonObject.ts';
import { type AuditEvent, auditEvent } from '../auditEvent.ts';
import { listTrailFiles, rotationTime } from './trailFiles.ts';
import { holdTrail } from './trailLock.ts';

/** An open file of a trail, of which the first `size` bytes are whole lines. */
interface ReadableFile {
  readonly path: string;
  readonly descriptor: number;
  readonly size: number;
}

/**
 * Yields the events of a trail since a moment, oldest first, without those that are appended meanwhile.
 * @param onDamaged receives a file's path for each line that is no event, such as one that a power cut has torn
 */
export async function* readAuditEvents(
  directory: string,
  since: Date,
  onDamaged: (path: string) => void,
): AsyncGenerator<AuditEvent> {
  using resources = new DisposableStack();
  const files = await openFiles(directory, since);
  for (const { descriptor } of files) resources.defer(() => closeSync(descriptor));
  for (const { path, descriptor, size } of files) {
    if (size === 0) continue;
    const input = createReadStream(path, { fd: descriptor, autoClose: false, start: 0, end: size - 1 });
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line === '') continue;
      const event = parseEvent(line);
      if (event === undefined) onDamaged(path);
      else if (Date.parse(event.time) >= since.getTime()) yield event;
    }
  }
}

/** Opens the files while no process appends, rotates or deletes. */
function openFiles(directory: string, since: Date): Promise<readonly ReadableFile[]> {
  return holdTrail(directory, () => {
    const names = listTrailFiles(directory).filter((name) => (rotationTime(name) ?? since) >= since);
    return names.map((name) => {
      const path = join(directory, name);
      const descriptor = openSync(path, 'r');
      return { path, descriptor, size: fstatSync(descriptor).size };
    });
  });
}

function parseEvent(line: string): AuditEvent | undefined {
  const { success, data } = auditEvent.safeParse(parseIfJson(line));
  return success ? data : undefined;
}
