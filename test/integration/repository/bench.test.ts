import { describe, expect, it } from 'vitest';
import { root, run } from '../../../tools/program.ts';

const bench = (...args: string[]) => run(process.execPath, ['bench/bench.ts', ...args], { cwd: root });

describe('npm run bench', () => {
  // The row imports 10,000 users in processes of their own, whatever else the machine does.
  it('measures one row, and ends with 0 where its ratios reach their goals', async () => {
    const { code, stdout, stderr } = await bench('--only', 'documents-embedded', '--users', '10');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/documents-embedded +import: written per user +2\.5\d .* goal <= 2\.6/);
    expect(stdout).toMatch(/documents-embedded +export: read per user +1\.5\d .* goal <= 1\.6/);
    expect(stdout).not.toContain('memory');
  }, 180_000);

  it('rejects the name of no row', async () => {
    const { code, stderr } = await bench('--only', 'nothing');
    expect(code).toBe(2);
    expect(stderr).toContain('usage: npm run bench');
  });
});
