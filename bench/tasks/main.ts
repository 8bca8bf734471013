import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exportAll, importExportFile, inspectExportFile, readExportFile } from './product.ts';
import { type Measured, type Task, taskSchema } from './task.ts';

/** Runs one task in this process. Loads only its own store's client, because modules count as memory. */
async function run({ name, users, file, location }: Task): Promise<Measured> {
  switch (name) {
    case 'read':
      return readExportFile(file);
    case 'inspect':
      return inspectExportFile(file);
    case 'import':
      return importExportFile(file, location, 'created');
    case 'import again':
      return importExportFile(file, location, 'unchanged');
    case 'export with secrets':
      return exportAll(location, true);
    case 'export without secrets':
      return exportAll(location, false);
    case 'raw write':
      return location.kind === 'sqlite'
        ? (await import('./rawSqlite.ts')).rawSqliteWrite(join(location.directory, 'identity.sqlite'), users)
        : (await import('./rawFirestore.ts')).rawFirestoreWrite(location, users);
    case 'raw read':
      return location.kind === 'sqlite'
        ? (await import('./rawSqlite.ts')).rawSqliteRead(join(location.directory, 'identity.sqlite'))
        : (await import('./rawFirestore.ts')).rawFirestoreRead(location);
  }
}

/** Returns the bytes that this process has had written to disks, if the system counts them. */
async function bytesWritten(): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const [, bytes] = /^write_bytes: (\d+)$/m.exec(await readFile('/proc/self/io', 'utf8')) ?? [];
  return bytes === undefined ? undefined : Number(bytes);
}

// The program of one task: its argument is the task, its output one line of JSON.
const task = taskSchema.parse(JSON.parse(process.argv[2] ?? ''));
const measured = await run(task);
if (measured.users !== task.users) throw new Error(`${task.name}: ${measured.users} users instead of ${task.users}`);
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
const result = { ...measured, peakMegabytes, writtenBytes: await bytesWritten() };
process.stdout.write(`${JSON.stringify(result)}\n`);
