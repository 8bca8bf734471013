import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { exportFileWith, readResult } from '../../support/migrations/migrating.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { filledZitadel } from '../../support/zitadel/placeOfZitadel.ts';

const SALT_AND_HASH = '0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';

/** A person with a verified address and a bcrypt hash. */
function hashed(userId: string, hash = `$2b$10$${SALT_AND_HASH}`) {
  const email = { email: `${userId}@customer.example`, isEmailVerified: true };
  return person(userId, { userName: userId, email, hashedPassword: { value: hash } });
}

/** Returns a function that migrates a file to a ZITADEL. */
async function migrating(file: string, given: Parameters<typeof filledZitadel>[1] = {}) {
  const { zitadel, tokenFile } = await filledZitadel([], given);
  const places = ['--from', file, '--to', zitadel.url, '--to-token-file', tokenFile, '--with', 'all'];
  const migrate = async (...more: string[]) =>
    identity(['migrate', ...places, '--yes', '--run-dir', join(await testDirectory(), 'run'), ...more]);
  return { zitadel, migrate };
}

describe('a migration that is repeated after logins at the ZITADEL', () => {
  it('names a hash that differs as perhaps of the same password, and ends with 0', async () => {
    const file = await exportFileWith(organisation('acme', { humanUsers: [hashed('ada'), hashed('bob')] }));
    const { zitadel, migrate } = await migrating(file);
    expect((await migrate()).code).toBe(0);
    // A ZITADEL hashes the password anew at a login.
    const stored = zitadel.contents.find('acme', 'humanUsers', 'ada');
    const rehashed = { hashedPassword: { value: `$2a$14$${SALT_AND_HASH}` } };
    zitadel.contents.put('acme', 'humanUsers', 'ada', { ...stored, user: { ...Object(stored?.user), ...rehashed } });
    const { code, stdout, stderr } = await migrate('--json');
    expect(code, stderr).toBe(0);
    const result = readResult(stdout);
    expect(result.proof.differences).toContainEqual(
      expect.objectContaining({ id: 'ada', reason: expect.stringContaining('hashes a password anew') }),
    );
    expect(result).toMatchObject({
      outcome: 'done',
      proof: { unexpected: 0 },
      logins: { ready: 1, others: [{ reason: expect.stringContaining('with another hash in the target') }] },
    });
  });
});
