import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { defaultExportOptions } from '../../../functions/export/contract.ts';
import { exportOrganisations } from '../../../functions/export/operation.ts';
import { fillWithSample, prepareInstance, samplePerson } from '../../../local/localInstance.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { requireOwner } from '../../../shared/auth/requireOwner.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import type { Store } from '../../../shared/store/store.ts';
import { collect } from '../../support/fixtures/bytes.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const start = new Date('2026-11-21T05:23:40Z');
const daysLater = (days: number) => new Date(start.getTime() + days * DAY_MS);

/** A database and a place for its token, and how often the database was filled. */
async function place() {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const store = await openTestStore(sqlite);
  const tokenFile = join(directory.path, 'owner.pat');
  const filled = { times: 0 };
  const fill = async (_store: Store) => {
    filled.times++;
  };
  /** Prepares the instance, and expects the token in the file to be the owner's. */
  const prepare = async (now: Date, fillWith = fill) => {
    await prepareInstance(store, { name: 'local', fill: fillWith }, tokenFile, now);
    const token = await readFile(tokenFile, 'utf8');
    await requireOwner({ store, now: () => now }, `Bearer ${token}`, 'export');
    return token;
  };
  return { store, tokenFile, filled, prepare };
}

async function organisationsOf(store: Store): Promise<string> {
  const snapshot = await store.snapshot();
  const selection = { ...defaultExportOptions, withPasswords: true, withOtp: true, withKeys: true };
  const bytes = await collect(
    exportOrganisations(
      snapshot,
      selection,
      { instance: 'local', defaultOrgId: undefined, loginNamesByDomain: false },
      new AbortController().signal,
    ).bytes,
  );
  await snapshot[Symbol.asyncDispose]();
  return bytes.toString().replace(/"readTime":"[^"]*"/, '');
}

describe('a local instance', () => {
  it('is made and filled once, and keeps its token, which only its owner can read', async () => {
    const { tokenFile, filled, prepare } = await place();
    const token = await prepare(start);
    expect(await prepare(daysLater(29))).toBe(token);
    expect(filled.times).toBe(1);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
  });

  it('gets a new token if its own has expired, is missing, or is not a token', async () => {
    const { tokenFile, prepare } = await place();
    let token = await prepare(start);
    const expectAnother = async (now = start) => {
      const before = token;
      token = await prepare(now);
      expect(token).not.toBe(before);
    };
    await rm(tokenFile);
    await expectAnother();
    for (const text of ['', 'x', 'idpat_\n']) {
      await writeFile(tokenFile, text);
      await expectAnother();
    }
    await expectAnother(daysLater(31));
  });

  it('is filled when its making broke off before that', async () => {
    const { store, filled, prepare } = await place();
    await initialise(store, { name: 'local' }, DAY_MS, start);
    await prepare(start);
    expect(filled.times).toBe(1);
  });

  it.each([
    ['is filled again when the filling broke off', undefined],
    ['is made anew where its database is gone and its token is not, also when that breaks off', 'idpat_of_another'],
  ])('%s', async (_name, tokenOfAnother) => {
    const { tokenFile, filled, prepare } = await place();
    if (tokenOfAnother !== undefined) await writeFile(tokenFile, tokenOfAnother);
    await expect(prepare(start, () => Promise.reject(new Error('broken off')))).rejects.toThrow('broken off');
    await prepare(start);
    expect(filled.times).toBe(1);
  });

  it('can be filled with the sample again and again, which changes nothing', async () => {
    const { store, tokenFile, prepare } = await place();
    await prepare(start, fillWithSample);
    const before = await organisationsOf(store);
    await rm(tokenFile);
    await prepare(start, fillWithSample);
    expect(await organisationsOf(store)).toBe(before);
    expect(before).toContain(`{"otpEmail":true,"userId":"${samplePerson}"`);
  });
});
