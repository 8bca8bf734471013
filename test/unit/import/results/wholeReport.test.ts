import { describe, expect, it } from 'vitest';
import type { ImportResponse } from '../../../../functions/import/contract.ts';
import { WholeReport } from '../../../../functions/import/results/wholeReport.ts';

const error = { type: 'human_user', id: 'a', message: 'no' };
const warning = { type: 'human_user', id: 'b', message: 'odd' };
const response: ImportResponse = {
  errors: [error],
  success: { orgs: [{ orgId: 'O', humanUserIds: ['b'] }] },
  summary: {
    created: {},
    unchanged: {},
    failed: {},
    notCarried: {},
    warnings: [warning],
    proved: false,
    idsOmitted: true,
    errorsOmitted: 2,
    warningsOmitted: 1,
  },
};

/** Writes three errors, two warnings and two ids to a report, and returns its content. */
function report(): unknown {
  using whole = new WholeReport();
  whole.addOrganisation(0, 'O');
  for (let errors = 0; errors < 3; errors++) whole.addError(error);
  for (let warnings = 0; warnings < 2; warnings++) whole.addWarning(warning);
  for (const id of ['b', 'c']) whole.addId(0, 'humanUserIds', id);
  return JSON.parse(Buffer.concat([...whole.chunks(response)]).toString());
}

const { errorsOmitted: _errors, warningsOmitted: _warnings, idsOmitted: _ids, ...summary } = response.summary;

describe('a whole report', () => {
  it('lists all errors, warnings and ids, whatever the response omits', () => {
    expect(report()).toEqual({
      errors: [error, error, error],
      success: { orgs: [{ orgId: 'O', humanUserIds: ['b', 'c'] }] },
      summary: { ...summary, warnings: [warning, warning] },
    });
  });
});
