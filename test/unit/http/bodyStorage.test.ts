import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BodyBudget, createBodyStorage } from '../../../shared/http/bodyStorage.ts';

const tooMany = { code: 'RESOURCE_EXHAUSTED', httpStatus: 429, retryAfterSeconds: 5 };
const bytes = (count: number) => Buffer.alloc(count);
const ENOUGH = async () => Number.MAX_SAFE_INTEGER;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'budget-test-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Stores a body as it is received. */
async function store(budget: BodyBudget, size: number, memoryBytes = 10) {
  const storage = createBodyStorage({ budget, memoryBytes, directory });
  try {
    await storage.append(bytes(size));
    return await storage.finish();
  } catch (error) {
    await storage.close();
    throw error;
  }
}

describe('a memory budget for request bodies', () => {
  it.each([
    ['in memory', 1_000],
    ['in temporary files', 10],
  ])('admits as many bytes as it allows %s, and more when a body is closed', async (_name, memoryBytes) => {
    const budget = new BodyBudget(1_000, 1_000, ENOUGH);
    const [first, second] = [await store(budget, 500, memoryBytes), await store(budget, 500, memoryBytes)];
    await expect(store(budget, 1, memoryBytes)).rejects.toMatchObject(tooMany);
    await first.close();
    await first.close();
    await expect(store(budget, 501, memoryBytes)).rejects.toMatchObject(tooMany);
    const third = await store(budget, 500, memoryBytes);
    await Promise.all([second.close(), third.close()]);
    await (await store(budget, 1_000, memoryBytes)).close();
  });

  it('counts a body while it arrives, and not after it has failed', async () => {
    const budget = new BodyBudget(1_000, 1_000, ENOUGH);
    const arriving = createBodyStorage({ budget, memoryBytes: 10, directory });
    await arriving.append(bytes(600));
    await expect(store(budget, 600)).rejects.toMatchObject(tooMany);
    await expect(arriving.append(bytes(600))).rejects.toMatchObject(tooMany);
    await arriving.close();
    await (await store(budget, 1_000)).close();
  });

  it('moves bodies to files when all together take too much memory', async () => {
    const unlimited = new BodyBudget(Number.POSITIVE_INFINITY, 1_000);
    const inMemory = await store(unlimited, 1_000, 1_000);
    expect(unlimited.isMemoryFull).toBe(false);
    const inFile = await store(unlimited, 1, 1_000);
    expect(unlimited.isMemoryFull).toBe(false);
    await inMemory.close();
    await inFile.close();
    await expect(async () => {
      for await (const chunk of inFile.open()) expect.fail(`${chunk.length} bytes of a closed file`);
    }).rejects.toThrow('closed');
  });

  it('leaves half of the free disk space to others', async () => {
    let free = 1_000;
    const budget = new BodyBudget(1_000_000, 1_000, async () => free);
    const first = await store(budget, 400);
    free -= 400;
    await expect(store(budget, 201)).rejects.toMatchObject(tooMany);
    const second = await store(budget, 200);
    await Promise.all([first.close(), second.close()]);
    expect(await readdir(directory)).toEqual([]);
  });

  it('counts bodies that move to files at the same moment', async () => {
    const asked = Promise.withResolvers<number>();
    const budget = new BodyBudget(1_000_000, 1_000, () => asked.promise);
    const moving = [store(budget, 300), store(budget, 300)];
    asked.resolve(500);
    const ended = await Promise.allSettled(moving);
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const one of ended) if (one.status === 'fulfilled') await one.value.close();
  });
});
