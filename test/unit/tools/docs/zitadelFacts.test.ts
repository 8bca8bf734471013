import { expect, it } from 'vitest';
import { leftToDoRules } from '../../../../shared/exportFile/leftToDoRules.ts';
import { declaredSteps } from '../../../../tools/docs/zitadelFacts.ts';

it('the document of errors has the texts of manual steps that manifests contain', () => {
  const sent = new Set(leftToDoRules.map(({ reason, message }) => `${reason}: ${message}`));
  const reasons = new Set(leftToDoRules.map(({ reason }) => reason));
  const documented = Object.entries(declaredSteps()).filter(([reason]) => reasons.has(reason));
  expect(documented.length).toBeGreaterThan(15);
  for (const [reason, { text, remedy }] of documented)
    expect(sent).toContain(`${reason}: ${remedy === undefined ? text : `${text}: ${remedy}`}`);
});
