import { describe, expect, it } from 'vitest';
import { FORMAT } from '../../../shared/store/format.ts';
import { migrationSteps, migrations } from '../../../shared/store/migrations.ts';

describe('the migrations', () => {
  it('lead from each format to the next, up to the present one', () => {
    expect(migrations.map(({ to }) => to)).toEqual(Array.from({ length: FORMAT - 1 }, (_, index) => index + 2));
  });

  it('have steps that the progress of an upgrade can tell apart', () => {
    const names = migrationSteps(1).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const { to, steps } of migrations) for (const { name } of steps) expect(name.startsWith(`${to}: `)).toBe(true);
  });

  it('begin after the format of the database', () => {
    expect(migrationSteps(FORMAT)).toEqual([]);
    expect(migrationSteps(FORMAT - 1)).toEqual(migrations.at(-1)?.steps);
  });
});
