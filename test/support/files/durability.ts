import { fsyncSync, openSync, renameSync } from 'node:fs';
import { type FileHandle, link, open, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { type Mock, onTestFinished, vi } from 'vitest';

type Call = readonly [order: number, text: string];

/**
 * Watches the calls that make files appear and durable. The test file mocks `node:fs` and `node:fs/promises` by spies.
 * @returns a function that lists the calls since this call, in their order
 */
export async function watchDurability(): Promise<() => readonly string[]> {
  const sync = await spyOnHandles();
  for (const spied of [openSync, fsyncSync]) vi.mocked(spied).mockClear();
  for (const spied of [link, rename]) vi.mocked(spied).mockClear();
  vi.mocked(renameSync).mockClear();
  return () =>
    [
      ...calls(sync, () => 'sync the content'),
      ...calls(vi.mocked(link), ([, to]) => `link as ${basename(String(to))}`),
      ...calls(vi.mocked(rename), ([, to]) => `rename to ${basename(String(to))}`),
      ...calls(vi.mocked(renameSync), ([, to]) => `rename to ${basename(String(to))}`),
      ...calls(vi.mocked(fsyncSync), ([descriptor], order) => `sync ${openedPath(descriptor, order)}`),
    ]
      .toSorted(([first], [second]) => first - second)
      .map(([, text]) => text);
}

function calls<Arguments extends unknown[]>(
  { mock }: Mock<(...args: Arguments) => unknown>,
  describe: (args: Arguments, order: number) => string,
): Call[] {
  return mock.calls.map((args, index) => {
    const order = mock.invocationCallOrder[index] ?? 0;
    return [order, describe(args, order)];
  });
}

async function spyOnHandles() {
  await using handle = await open(tmpdir(), 'r');
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  const spied = vi.spyOn(prototype, 'sync');
  onTestFinished(() => spied.mockRestore());
  return spied;
}

/** Returns the path that a descriptor had at a given moment, because descriptors are reused. */
function openedPath(descriptor: number, order: number): string {
  const { results, calls: opened, invocationCallOrder } = vi.mocked(openSync).mock;
  const isBefore = (index: number) => (invocationCallOrder[index] ?? 0) < order;
  const index = results.findLastIndex(({ value }, opening) => value === descriptor && isBefore(opening));
  return String(opened[index]?.[0]);
}
