import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Ended, root, run, startProgram } from '../../tools/program.ts';
import { parseXml } from '../support/documents/xml.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { rows } from './rows.ts';
import seenOnZitadel from './seenOnZitadel.json' with { type: 'json' };
import { type StandIn, startStandIn } from './standIn/standIn.ts';
import { newZitadelSubjects } from './subjects.ts';

const EXCLUSION = 'an excluded organisation is left out';
const NOT_RUN = [
  'export: empty body (restricted by nothing)',
  'unknown host',
  'otp-email: delete for deleted user: create',
];
const script = join(root, 'test', 'conformance', 'run.ts');

/** The rows that a ZITADEL was judged by although it answers otherwise, by what it answers. */
const judgedWrongly: Readonly<Record<string, readonly string[]>> = {
  'its own text': [
    'both spellings of a field at depth are refused',
    'null in a list of objects is refused',
    'null in a list of strings is refused',
    'two sources',
    'a timeout that is a number',
  ],
  '404 for a caller without a membership': ['export: no role', 'import: no role', 'delete otp: no role'],
  '400 for a bad body without a token': ['export: no token, bad body', 'import: no token, bad body'],
  'its gateway': [
    'POST /admin/v1 is no route',
    'POST /v2/users is no route',
    'POST /v2/users/1/otp_sms is no route',
    'headers of an error',
  ],
  'ids that its paths do not take': [
    'ids are free text, with slashes and any script',
    '200 characters of four bytes are an id',
    '201 of them are none',
  ],
  'the text of its database': ['duplicate project grant error', 'a name that another organisation has'],
  'ORG-lapo2n': [
    'an organisation that exists may come without its name',
    'a person who is there with other content is left alone, and reported',
  ],
  'no creationDate': ['the factor goes, and the address with its state stays'],
};

describe('the rows that a ZITADEL must pass', () => {
  const table = rows(newZitadelSubjects(), 'zitadel');

  for (const [answer, names] of Object.entries(judgedWrongly)) {
    it.each(names)(`want ${answer} in %s`, (name) => {
      expect(table.filter((row) => row.name === name)).toMatchObject([{ feature: 'zitadel' }]);
    });
  }

  it('want no token of a person, and nothing that this service alone does', () => {
    const roles = table.flatMap(({ steps }) => steps.map(({ request }) => request.role));
    expect(roles).not.toContain('person');
    expect(table.filter(({ feature }) => feature === 'ours')).toEqual([]);
    expect(table.map(({ name }) => name)).not.toContain('a person asks for another’s');
  });

  it('say which of them no running ZITADEL has passed yet', () => {
    const untried = table.filter(({ isUntried, setup }) => isUntried === true && setup === undefined);
    expect(untried.map(({ name }) => name).sort()).toEqual([
      EXCLUSION,
      'delete otp: token of a deactivated user',
      'export: token of a deactivated user',
      'import: body 4.3 MB',
      'import: body 4.3 MB no auth',
      'import: token of a deactivated user',
      'the factor goes, and the address with its state stays',
    ]);
    const names = table.map(({ origin, name }) => `${origin}: ${name}`);
    expect(seenOnZitadel.rows.filter((name) => !names.includes(name))).toEqual([]);
  });

  it('end with the one that may end the server', () => {
    expect(table.filter(({ danger }) => danger !== undefined).map(({ name }) => name)).toEqual([EXCLUSION]);
    expect(table.at(-1)).toMatchObject({ name: EXCLUSION, feature: 'documented' });
  });
});

// A whole run waits for projections and for the server to come back, on a machine that may be busy.
const TIMEOUT_MS = 300_000;

describe('npm run conformance -- --reference zitadel', { timeout: TIMEOUT_MS }, () => {
  it('passes on the recorded answers, but for the row whose exclusion ends the server, and removes all', async () => {
    const standIn = await startStandIn({ deadMs: 500, lagMs: 100 });
    const { code, stdout, junit } = await conformance(standIn);
    expect(failedRows(stdout)).toEqual([`specification 2.4        ${EXCLUSION}`]);
    expect(stdout).toContain('no response: socket hang up');
    expect(stdout).toMatch(/^passed +errors.json +import: body 4\.3 MB \(no running ZITADEL has passed it yet\)$/m);
    expect(stdout).toMatch(/^passed +errors.json +export: no Authorization$/m);
    const total = rows(newZitadelSubjects(), 'zitadel').length;
    const passed = total - NOT_RUN.length - 1;
    const summary = `${total} rows: ${passed} passed, 0 differ by decision, 1 failed, ${NOT_RUN.length} not run\n`;
    expect(stdout.endsWith(summary), stdout.slice(-500)).toBe(true);
    expect({ code, deaths: standIn.deaths(), left: standIn.organisations() }).toEqual({ code: 1, deaths: 1, left: [] });
    expect(stdout).toMatch(/^Removed \d\d organisations that the run created.$/m);
    const suite = parseXml(junit).children[0];
    expect(suite?.attributes).toMatchObject({ tests: String(total), failures: '1', skipped: String(NOT_RUN.length) });
    const failed = suite?.children.filter(({ children }) => children[0]?.name === 'failure');
    expect(failed?.map(({ attributes }) => attributes)).toEqual([
      { classname: 'specification 2.4 (documented)', name: EXCLUSION },
    ]);
  });

  it('ends with 0 without that row', async () => {
    const { code, stdout } = await conformance(await startStandIn(), '--only', '^export|exclu', '--skip', 'excluded');
    expect(failedRows(stdout)).toEqual([]);
    expect(code).toBe(0);
  });

  it('waits for exports to show an import no longer than it is told', async () => {
    const only = ['--only', 'an enum is taken by its n'];
    const patient = await conformance(await startStandIn({ lagMs: 700 }), ...only);
    expect([patient.code, failedRows(patient.stdout)]).toEqual([0, []]);
    const hasty = await conformance(await startStandIn({ lagMs: 700 }), ...only, '--settle', '0');
    expect([hasty.code, failedRows(hasty.stdout).length]).toEqual([1, 2]);
  });

  it('lists what it left, where the server has no request that deletes an organisation', async () => {
    const standIn = await startStandIn({ deletes: false });
    const { code, stdout } = await conformance(standIn, '--only', 'an enum is taken by its n');
    expect(code).toBe(0);
    expect(stdout).toContain(
      'Left 4 organisations that the run created, since the server has no request that removes an organisation:\n',
    );
    expect(listed(stdout)).toEqual(standIn.organisations());
  });

  it('lists what it left, where the server does not come back', async () => {
    const standIn = await startStandIn();
    const { code, stdout } = await conformance(standIn, '--only', 'specification|exclu|asked', '--restart', '0.3');
    expect(code).toBe(1);
    expect(failedRows(stdout)).toEqual([`specification 2.4        ${EXCLUSION}`]);
    expect(stdout).toMatch(/^Left 3 organisations that the run created, since no response: connect ECONNREFUSED/m);
    expect(stdout).toMatch(/\d+ rows: \d+ passed, 0 differ by decision, 1 failed, 0 not run\n$/);
  });

  it('ends at Ctrl-C with a summary, and removes what it created', async () => {
    const standIn = await startStandIn({ lagMs: 60_000 });
    const { program, junit } = await started(standIn, '--settle', '60');
    await program.written('errors.json              export: no Authorization');
    const { code, stdout } = await program.stop('SIGINT');
    expect(code).toBe(130);
    expect(stdout).toContain('The other rows were not run: the run was interrupted.');
    expect(stdout).toMatch(/\d+ rows: \d+ passed, 0 differ by decision, 0 failed, \d+ not run\n$/);
    expect(standIn.organisations()).toEqual([]);
    expect(Number(parseXml(await junit()).attributes.skipped)).toBeGreaterThan(100);
  });

  it('fails where no row is left to run', async () => {
    const standIn = await startStandIn();
    const { code, stdout } = await conformance(standIn, '--only', 'no such row');
    expect([code, standIn.organisations()]).toEqual([1, []]);
    expect(stdout).toContain('no row has a name that --only and --skip leave');
    expect(stdout).toMatch(/^0 rows: /m);
  });

  it('says why a server cannot be prepared, with a summary', async () => {
    const { url } = await startStandIn();
    const { code, stdout } = await conformance({ url, token: 'wrong' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^The other rows were not run: the server could not be prepared: .*401.*AUTH-7fs1e/m);
    expect(stdout).toMatch(/\d+ rows: 0 passed, 0 differ by decision, 0 failed, \d+ not run\n$/);
  });
});

interface Finished extends Ended {
  readonly junit: string;
}

async function conformance(server: Pick<StandIn, 'url' | 'token'>, ...options: readonly string[]): Promise<Finished> {
  const { args, file } = await argumentsFor(server, options);
  const ended = await run(process.execPath, args);
  return { ...ended, junit: await readFile(file, 'utf8') };
}

async function started(server: StandIn, ...options: readonly string[]) {
  const { args, file } = await argumentsFor(server, options);
  const program = await startProgram(process.execPath, args, /^passed/);
  return { program, junit: () => readFile(file, 'utf8') };
}

async function argumentsFor({ url, token }: Pick<StandIn, 'url' | 'token'>, options: readonly string[]) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const [tokenFile, file] = [join(directory.path, 'token'), join(directory.path, 'junit.xml')];
  await writeFile(tokenFile, token);
  const args = ['--base-url', url, '--token-file', tokenFile, '--reference', 'zitadel', '--junit', file, ...options];
  return { args: [script, ...args], file };
}

/** The rows that the end of a report names as failed. */
function failedRows(stdout: string): string[] {
  const [, ending = ''] = stdout.split('\nFailed:\n');
  return [...ending.matchAll(/^ {2}FAILED +(.*)$/gm)].flatMap(([, row]) => row ?? []);
}

function listed(stdout: string): string[] {
  const [, ending = ''] = stdout.split('\nLeft ');
  return [...ending.matchAll(/^ {2}(\S+)$/gm)].flatMap(([, orgId]) => orgId ?? []);
}
