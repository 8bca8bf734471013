import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { identity } from '../../support/command.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { repetitions } from '../../support/repetitions.ts';
import type { AbusedServer } from '../support/abusedServer.ts';
import { almostHundredfold, peopleOf, requestOf } from '../support/files.ts';
import { sendStream } from '../support/requests.ts';
import { restrictedToken } from '../support/restrictedToken.ts';
import type { CostRow } from './costRow.ts';

/** How large the requests are, which `npm run test:all` sends in a smaller size. */
const sizes = repetitions({
  few: { passwords: 24, people: 20_000, organisations: 10_000, megabytes: 40 },
  many: { passwords: 500, people: 400_000, organisations: 100_000, megabytes: 900 },
});

const count = (value: number) => value.toLocaleString('en');
const importing =
  'as above; of `MAX_BUFFERED_BYTES` its body, and one of `MAX_IMPORTS` from the end of the body to the response';
const exporting = 'as above; one of `MAX_EXPORTS` until the response is read';
const credentials = { hashedPassword: { value: `$2a$10$${'a'.repeat(53)}` }, otpCode: 'JBSWY3DPEHPK3PXP' };
const everything = { response_output: true, with_passwords: true, with_otp: true, with_keys: true, org_ids: ['a'] };
const ofPeople = {
  removals: 2_000 + sizes.people,
  memoryBytes: 300_000_000,
  diskBytes: 5_000_000 + 2_000 * sizes.people,
};

function sending(server: AbusedServer, token: string, status: number, body: () => Iterable<string | Uint8Array>) {
  return async (path: string, headers = {}) => {
    const answer = await sendStream({ ...server, token }, path, body(), headers);
    expect(answer.status, answer.text.slice(0, 300)).toBe(status);
  };
}

/** Prepares an import of people with a token for imports only. */
async function restrictedImport(server: AbusedServer, user: object, people: number) {
  const body = () => requestOf({}, peopleOf('a', people, user));
  const send = sending(server, await restrictedToken(server), 200, body);
  return () => send('/admin/v1/import');
}

/** Fills the server's database by another process, so that its own memory tells what the request costs. */
async function fill(server: AbusedServer): Promise<void> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const file = join(directory.path, 'file.json');
  await writeFile(file, `{"orgs":[${[...peopleOf('a', sizes.people, credentials)].join('')}]}`);
  const imported = await identity(['import', file, '--to', `sqlite:${server.database[1]}`, '--with', 'all']);
  expect(imported, imported.stderr).toMatchObject({ code: 0 });
}

function* organisations(): Generator<string> {
  for (let index = 0; index < sizes.organisations; index++)
    yield `${index === 0 ? '' : ','}${JSON.stringify(organisation(`o${index}`))}`;
}

/** Exports and imports, of tokens for one operation and of owners. */
export const transferRows: readonly CostRow[] = [
  {
    caller: 'restricted token',
    places: `${importing}; meanwhile every core`,
    times: 1,
    most: {
      removals: 2_500 * sizes.passwords,
      memoryBytes: 200_000_000,
      diskBytes: 2_000_000 + 4_000 * sizes.passwords,
    },
    request: `an import of ${count(sizes.passwords)} clear passwords, of which 5,000 are allowed`,
    prepare: (server) => restrictedImport(server, { password: 'Password1!' }, sizes.passwords),
  },
  {
    ...{ caller: 'restricted token', places: importing, times: 1, most: ofPeople },
    request: `an import of ${count(sizes.people)} people; a body of 1 GB is allowed, which has about 5,000,000`,
    prepare: (server) => restrictedImport(server, {}, sizes.people),
  },
  {
    caller: 'restricted token',
    places: importing,
    times: 1,
    most: {
      removals: 2_000 + 60 * sizes.megabytes,
      memoryBytes: 200_000_000,
      diskBytes: 2_000_000 + 1_010_000 * sizes.megabytes,
    },
    request: `an import of gzip that becomes ${count(sizes.megabytes)} MB and is no file; 1 GB is allowed`,
    prepare: async (server) => {
      const body = [almostHundredfold(sizes.megabytes)];
      const send = sending(server, await restrictedToken(server), 400, () => body);
      return () => send('/admin/v1/import', { 'content-encoding': 'gzip' });
    },
  },
  {
    caller: 'restricted token',
    places: exporting,
    times: 1,
    most: { removals: 1_000 + 0.3 * sizes.people, memoryBytes: 200_000_000, diskBytes: 1_000_000 },
    request: `an export of an organisation with ${count(sizes.people)} people, with all secrets`,
    prepare: async (server) => {
      await fill(server);
      const token = await restrictedToken(server, 'export');
      const send = sending(server, token, 200, () => [JSON.stringify(everything)]);
      return () => send('/admin/v1/export');
    },
  },
  {
    ...{ caller: 'owner', places: importing, times: 1, most: ofPeople },
    request: `a dry run of ${count(sizes.people)} people; a body of 1 GB is allowed`,
    prepare: async (server) => {
      const send = sending(server, server.token, 200, () => requestOf({ dry_run: true }, peopleOf('a', sizes.people)));
      return () => send('/admin/v1/import');
    },
  },
  {
    caller: 'owner',
    places: importing,
    times: 1,
    most: {
      removals: 2_000 + 1.5 * sizes.organisations,
      memoryBytes: 200_000_000 + 4_000 * sizes.organisations,
      diskBytes: 5_000_000 + 2_000 * sizes.organisations,
    },
    request: `an import of ${count(sizes.organisations)} organisations, of which 100,000 are allowed`,
    prepare: async (server) => {
      const send = sending(server, server.token, 200, () => requestOf({}, organisations()));
      return () => send('/admin/v1/import');
    },
  },
];
