import { describe, expect, it } from 'vitest';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';

const NOW = '2026-01-01T00:00:00Z';

function idOfIssue(section: string, roles: readonly string[] | undefined) {
  const issue = sectionNamed(section).check?.({ roles }, NOW);
  return typeof issue === 'object' ? issue.id : issue;
}

describe('a member', () => {
  it.each([
    ['orgMembers', ['ORG_OWNER', 'ORG_OWNER_VIEWER']],
    ['orgMembers', ['SELF_MANAGEMENT_GLOBAL']],
    ['projectMembers', ['PROJECT_OWNER', 'PROJECT_OWNER_VIEWER_GLOBAL']],
    ['projectMembers', ['PROJECT_GRANT_OWNER']],
    ['projectGrantMembers', ['PROJECT_GRANT_OWNER_VIEWER']],
  ])('of %s holds %j', (section, roles) => {
    expect(idOfIssue(section, roles)).toBeUndefined();
  });

  it.each([
    ['orgMembers', undefined, 'ORG-4Mlfs'],
    ['orgMembers', ['ORG_OWNER', 'IAM_OWNER'], 'Org-4N8es'],
    ['orgMembers', ['ORG_OWNER', 'SELF_MANAGEMENT_GLOBAL'], 'Org-4N8es'],
    ['orgMembers', ['ORG_NONSENSE'], 'Org-4N8es'],
    ['orgMembers', [''], 'Org-4N8es'],
    ['projectMembers', [], 'PROJECT-W8m4l'],
    ['projectMembers', ['ORG_OWNER'], 'PROJECT-3m9ds'],
    ['projectGrantMembers', [], 'PROJECT-8fi7G'],
    ['projectGrantMembers', ['PROJECT_OWNER'], 'PROJECT-m9gKK'],
  ])('of %s does not hold %j', (section, roles, id) => {
    expect(idOfIssue(section, roles)).toBe(id);
  });
});
