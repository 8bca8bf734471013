import { describe, expect, it } from 'vitest';
import { root, run } from '../../tools/program.ts';

const bench = (...args: string[]) => run(process.execPath, ['tools/bench/bench.ts', ...args], { cwd: root });

const titles = [
  'import',
  'import again',
  'export with secrets',
  'import of small organisations',
  'export of small organisations',
  'removal over 1 connection',
  'removal over 32 connections',
  'peak memory of imports',
  'peak memory of exports',
  'import into Firestore',
  'export from Firestore',
  'cold start of removeOtpEmail',
  'processor time of a cold start of removeOtpEmail',
  'cold start of export',
  'processor time of a cold start of export',
  'cold start of import',
  'processor time of a cold start of import',
];

describe.runIf(process.platform === 'linux')('npm run bench', () => {
  it('prints each figure beside the limit of the machine', async () => {
    const { code, stdout, stderr } = await bench('--users', '200', '--rounds', '1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = stdout.split('\n').filter((line) => /^\| \w/.test(line));
    const isMeasured = (title: string) => !title.includes('Firestore') || !stdout.includes('without Firestore: ');
    expect(rows.map((row) => row.split(' | ')[0]?.slice(2))).toEqual(titles.filter(isMeasured));
    const amount = String.raw`[1-9][\d,.]* (?:users\/s|removals\/s|ms|MB)`;
    for (const row of rows) expect(row).toMatch(new RegExp(`\\| ${amount} \\| ${amount} \\| \\d+\\.\\d\\d \\|`));
    expect(stdout).toContain('\n200 users, 1 round, ');
  }, 300_000);

  it('rejects fewer users than its connections need', async () => {
    const { code, stderr } = await bench('--users', '10');
    expect(code).toBe(2);
    expect(stderr).toContain('usage: npm run bench');
  });
});
