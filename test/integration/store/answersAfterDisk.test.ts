import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

// Modules that an earlier test file has loaded do not know the mocks, and later files must not get them.
vi.hoisted(() => vi.resetModules());
afterAll(() => void vi.resetModules());
/** A disk that a test can block: commits are visible before they are durable. */
const disk = vi.hoisted(() => ({ wait: () => Promise.resolve(), pending: 0 }));

vi.mock(import('node:fs'), async (importOriginal) => {
  const original = await importOriginal();
  const fdatasync = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => {
    disk.pending++;
    void disk.wait().then(() => {
      disk.pending--;
      original.fdatasync(descriptor, done);
    });
  };
  return { ...original, fdatasync: Object.assign(fdatasync, { __promisify__: original.fdatasync.__promisify__ }) };
});

const people = Array.from({ length: 40 }, (_, index) => person(`P${index}`));
const file = { orgs: [organisation('O', { humanUsers: people })] };

/** The turns of the event loop that a request without a disk needs, several times over. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Blocks the disk until the returned function is called. */
function holdDisk(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.wait = () => promise;
  onTestFinished(() => resolve());
  return resolve;
}

afterEach(() => {
  disk.wait = () => Promise.resolve();
});

/** Imports people, all visible and none durable yet. */
async function visibleImport(instance: TestInstance): Promise<{ importing: Promise<unknown>; release: () => void }> {
  const release = holdDisk();
  const importing = instance.import({ data_orgs: file });
  await expect.poll(() => disk.pending).toBeGreaterThan(0);
  return { importing, release };
}

describe('a response about records that another import has committed', () => {
  it.each<[string, (instance: TestInstance) => Promise<unknown>]>([
    ['an import of the same file', (instance) => instance.import({ data_orgs: file })],
    ['a dry run', (instance) => instance.import({ data_orgs: file, dry_run: true })],
    ['a rejected import', (instance) => instance.refusedImport({ data_orgs: file, on_conflict: 'fail' })],
    ['an export', (instance) => instance.export()],
  ])('waits until they are on disk: %s', async (_what, call) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { importing, release } = await visibleImport(instance);
    const order: string[] = [];
    const first = importing.then(() => order.push('on the disk'));
    const second = call(instance).then(() => order.push('answered'));
    await manyTurns();
    expect(order).toEqual([]);
    release();
    await Promise.all([first, second]);
    expect(order).toContain('answered');
  });
});

describe('a removal of a factor', () => {
  it('is reported when it is on disk, also to a client that repeats it', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const ada = { ...person('ada'), otpEmail: true };
    await instance.import({ data_orgs: { orgs: [organisation('O', { humanUsers: [ada] })] } });
    const order: string[] = [];
    const remove = async (name: string) => {
      const headers = { authorization: `Bearer ${instance.token}` };
      const { status } = await instance.app.request('/v2/users/ada/otp_email', { method: 'DELETE', headers });
      order.push(`${name} ${status}`);
    };
    const release = holdDisk();
    const first = remove('first');
    await expect.poll(() => disk.pending).toBeGreaterThan(0);
    const second = remove('second');
    await manyTurns();
    expect(order).toEqual([]);
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(['first 200', 'second 404']);
  });
});
