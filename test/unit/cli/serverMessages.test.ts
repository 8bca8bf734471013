import { describe, expect, it } from 'vitest';
import { humanMessage } from '../../../cli/serverMessages.ts';

const exists = /^exists with other content, in another organisation, or earlier in the file: --on-conflict overwrite/;

describe("the readable text of a server's message", () => {
  it.each([
    ['ID=COMMAND-ziuna Message=Errors.User.AlreadyExisting', exists],
    ['ID=V2-e1wse Message=Errors.Already.Exists', exists],
    ['ID=ORG-lapo2n Errors.Org.AlreadyExisting', exists],
    ['ID=V3-DKcYh Message=Errors.User.AlreadyExists', /^another user has this login name/],
    ['ID=V3-DKcYh Message=Errors.Org.AlreadyExists', /^another organisation has this name/],
    [
      'ID=ORG-1M8ds Message=Errors.Org.DomainPolicy.AlreadyExists',
      /^the organisation has another domain policy: .+, unless that changes the scope of user names$/,
    ],
    [
      'ID=COMMAND-4m9ff Message=Errors.Project.Grant.NotFound',
      /^refers to a project or project grant that was not imported/,
    ],
    ['ID=COMM-deLSk Message=Errors.Org.Invalid', /the file has no name to create it with/],
    ['ID=ORG-4Mlfs Message=Errors.Invalid.Argument', /are missing: add them$/],
    ['ID=V3-DKcYh Message=Errors.Org.Domain.AlreadyExists', /^another organisation has verified this domain$/],
    ['ID=V3-DKcYh Message=Errors.User.ExternalIDP.AlreadyExists', /^another person has this external identity$/],
    [
      'ID=V3-DKcYh Message=Errors.Member.AlreadyExists',
      /^the user was a member of an organisation of this id that was deleted/,
    ],
    ['ID=V3-DKcYh Message=Errors.Project.App.AlreadyExists', /^another application of the project has this name/],
    ['ID=V3-DKcYh Message=Errors.Project.AlreadyExists', /^another project of the organisation has this name$/],
    ['ID=V3-DKcYh Message=Errors.Action.AlreadyExists', /^another action of the organisation has this name$/],
    ['ID=V3-DKcYh Message=Errors.IDPConfig.AlreadyExists', /^another identity provider of the organisation has/],
    ['ID=V3-DKcYh Message=Errors.Project.Role.AlreadyExists', exists],
    ['ID=ORG-GoXOn Errors.User.NotFound', /^refers to a user that was not imported and does not exist in the target$/],
    [
      'ID=LANG-3 Errors.IDPConfig.NotExisting',
      /^refers to a record that was not imported and does not exist in the target$/,
    ],
    [
      'ID=DOMAIN-HuJf6 Message=Errors.User.PasswordComplexityPolicy.MinLength',
      /^the password is too short or simple for its organisation's policy$/,
    ],
    ['ID=Org-4N8es Message=Errors.Org.MemberInvalid', /^the member has no role that is valid there$/],
    ['ID=DOMAIN-dv3t5 Message=Errors.AuthNKey.ExpireBeforeNow', /^the key has expired$/],
    [
      'ID=Org-WSfdq Message=Errors.Org.LoginPolicy.RedirectURIInvalid',
      /^org login policy redirect uri invalid \(Org-WSfdq\)$/,
    ],
    [
      'the file has no machine keys: export with `with_keys`, or create new ones',
      /^the file has no machine keys: export with --with keys, or create new ones$/,
    ],
    [
      'invalid ImportDataOrg.Orgs[0]: embedded message failed validation | caused by: invalid DataOrg.ProjectRoles[7]: embedded message failed validation | caused by: invalid AddProjectRoleRequest.DisplayName: value length must be: 1',
      /^orgs\[0\]\.projectRoles\[7\]\.displayName: value length must be: 1$/,
    ],
    [
      'with_passwords must be a boolean, and of_others none',
      /^--with passwords must be a boolean, and of_others none$/,
    ],
  ])('is for %s: %s', (message, text) => {
    expect(humanMessage(message)).toMatch(text);
  });
});
