import { expect, it } from 'vitest';
import { templateText } from '../../../../shared/errors/issueText.ts';
import { leftToDoRules } from '../../../../shared/exportFile/leftToDoRules.ts';
import { declaredSteps, zitadelFactsList } from '../../../../tools/docs/zitadelFactsList.ts';

it('the document of ZITADEL lists the manual steps that manifests contain', () => {
  const list = zitadelFactsList();
  const sent = new Set(leftToDoRules.map(({ reason, row }) => `${reason}: ${templateText(row, 'http')}`));
  const reasons = new Set(leftToDoRules.map(({ reason }) => reason));
  const documented = Object.entries(declaredSteps()).filter(([reason]) => reasons.has(reason));
  expect(documented.length).toBeGreaterThan(15);
  for (const [reason, row] of documented) {
    expect(list).toMatch(new RegExp(`Step [^.]*\`${reason}\``));
    expect(sent).toContain(`${reason}: ${templateText(row, 'http')}`);
  }
});
