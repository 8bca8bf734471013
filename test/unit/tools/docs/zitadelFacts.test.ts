import { expect, it } from 'vitest';
import { templateText } from '../../../../shared/errors/issueText.ts';
import { leftToDoRules } from '../../../../shared/exportFile/leftToDoRules.ts';
import { errorsDocument } from '../../../../tools/docs/errorsDocument.ts';
import { declaredSteps } from '../../../../tools/docs/zitadelFacts.ts';

it('the document of errors lists the manual steps that manifests contain', () => {
  const [, list = ''] = errorsDocument().split('## Manual steps');
  const sent = new Set(leftToDoRules.map(({ reason, row }) => `${reason}: ${templateText(row, 'http')}`));
  const reasons = new Set(leftToDoRules.map(({ reason }) => reason));
  const documented = Object.entries(declaredSteps()).filter(([reason]) => reasons.has(reason));
  expect(documented.length).toBeGreaterThan(15);
  for (const [reason, row] of documented) {
    expect(list).toContain(`\`${reason}\``);
    expect(sent).toContain(`${reason}: ${templateText(row, 'http')}`);
  }
});
