import type { Release, ZitadelBehaviour } from '../support/zitadel/behaviour.ts';
import type { ZitadelStandIn } from '../support/zitadel/standIn.ts';

/** An import into ZITADEL. Records are written as in `importRows.ts`; the parts of a report are separated by bars. */
export interface Row {
  /** The releases of ZITADEL; 4.0 by default. */
  readonly releases?: readonly Release[];
  readonly on?: Partial<ZitadelBehaviour>;
  /** What others have created there, and then the caller by an earlier import. */
  readonly stored?: string;
  readonly own?: string;
  /** Changes by others before the import, and after its comparison. */
  readonly before?: (zitadel: ZitadelStandIn) => void;
  readonly during?: (zitadel: ZitadelStandIn) => void;
  readonly file: string;
  readonly onConflict?: 'report' | 'skip' | 'overwrite' | 'fail';
  /** The report: the counts by outcome, and each error with its reason and parameters. */
  readonly says?: string;
  /** The report of the dry run, if it differs from that of the import. */
  readonly dry?: string;
  /** The report of a repetition. */
  readonly again?: string;
  /** The end of the call instead of a report, before anything is sent. */
  readonly throws?: string;
  /** The warnings about records. */
  readonly warns?: string;
  /**
   * The stored values after the import: `ORGANISATION SECTION KEY PATH=VALUE`; `!` begins a value that is not stored.
   */
  readonly leaves?: string;
  /** The events that it adds to records that others own or owned, where it may. */
  readonly foreign?: string;
}

const all = ['2.71', '4.0', '2026-07'] as const;
const SEED = 'JBSWY3DPEHPK3PXP';
const HASH = '$2a$14$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const ada = `1 person ada hash=${HASH}`;

/** The organisation of another tenant, and one to which it has granted its project. */
const tenant = `1 person ada; 1 person ben; 1 robot ci; 1 machineKey key ci; 1 project shop; 1 role shop admin;
  1 web web shop; 1 api api shop; 1 action act; 1 oidc idp; 1 grant grant shop 2 admin; 2 org`;
/** A copy of its records under a new id, with a few that are new. */
const copy = `9 person ada ada-9; 9 person new; 9 robot ci ci-9; 9 robot ben ben-9; 9 robot bot; 9 machineKey mine ci;
  9 machineKey key bot; 9 metadata ada zone eHh4; 9 project shop Stolen; 9 project fresh; 9 role shop other;
  9 role fresh admin; 9 web web fresh; 9 web mine shop; 9 api api fresh; 9 action act mine; 9 trigger 1 1 act;
  9 jwt idp Mine; 9 link new idp x; 9 loginPolicy idp; 9 grant grant fresh 2 admin; 9 authorisation ada fresh - admin;
  9 authorisation new fresh - admin; 9 member ada ORG_OWNER; 9 projectMember fresh ada PROJECT_OWNER`;

type EventTypes = Readonly<Record<string, string>>;
/** Appends an event of others. */
const event =
  (owner: string, aggregateType: string, aggregateId: string, type: string, payload: EventTypes = {}) =>
  ({ contents }: Pick<ZitadelStandIn, 'contents'>) =>
    contents.append(owner, [{ aggregateType, aggregateId, type, payload }]);

const deletedOrganisation = ({ contents }: ZitadelStandIn) => contents.delete('1');
const deletedIds = ({ contents }: ZitadelStandIn) => {
  contents.remove('1', 'humanUsers', 'ada');
  contents.remove('1', 'machineUsers', 'ci');
  contents.remove('1', 'projects', 'shop');
  contents.remove('1', 'actions', 'act');
};
const deletedElsewhere = `9 person ada seed=${SEED}; 9 robot ci; 9 project shop Stolen; 9 action act mine`;

/** Another import creates a person with other content. */
const createdMeanwhile = ({ contents }: ZitadelStandIn) => {
  contents.users.set('ann', '9');
  contents.put('9', 'humanUsers', 'ann', { userId: 'ann', user: { userName: 'other' } });
  event('9', 'user', 'ann', 'user.human.added')({ contents });
};

/** Changes a factor of a person by a user, which leaves the person without a seed. */
const changedFactor =
  (type: string, editor: string) =>
  ({ contents }: ZitadelStandIn) => {
    const { user, ...person } = contents.find('1', 'humanUsers', 'ada') ?? {};
    contents.put('1', 'humanUsers', 'ada', { ...person, user: { ...Object(user), otpCode: undefined } });
    contents.append('1', [{ aggregateType: 'user', aggregateId: 'ada', type }], editor);
  };

const factorRows = (
  [
    ['report', 'user.human.mfa.otp.removed', 'owner'],
    ['skip', 'user.human.mfa.otp.removed', 'admin'],
    ['skip', 'user.human.mfa.u2f.token.added', 'owner'],
    ['skip', 'user.human.phone.changed', 'admin'],
  ] as const
).map(([onConflict, type, editor]): readonly [string, Row] => [
  `no factor comes back to a person after ${type} of ${editor}, by ${onConflict}`,
  {
    onConflict,
    own: type.endsWith('removed') ? `${ada} seed=${SEED}` : ada,
    before: changedFactor(type, editor),
    file: `${ada} seed=${SEED}; 1 person bob hash=${HASH}`,
    says: `created humanUsers 1 | unchanged org 1 | failed humanUsers 1 |
      human_user_otp ada: seed_of_changed_person (${type}, ${editor}, TIME)`,
    leaves: '1 humanUsers ada user.otpCode=none',
  },
]);

/** The imports by what they prove. */
export const rows: Readonly<Record<string, Row>> = {
  // The owners of ids.
  'an id that another organisation has keeps the record out, and what refers to it': {
    releases: all,
    stored: tenant,
    file: copy,
    says: `created humanUsers 1, loginPolicy 1, machineUsers 1, org 1, projectRoles 1, projects 1, userGrants 1 |
      failed actions 1, apiApps 1, humanUsers 1, jwtIdps 1, machineKeys 2, machineUsers 2, oidcApps 2, orgMembers
      1, projectGrants 1, projectMembers 1, projectRoles 1, projects 1, triggerActions 1, userGrants 1, userLinks
      1, userMetadata 1 | human_user ada: id_taken (a person, organisation 1) | machine_user ci: id_taken (a
      service user, organisation 1) | machine_user ben: id_taken (a person, organisation 1) | machine_user_key
      mine: dependency_not_imported (service user ci (ci-9)) | machine_user_key key: id_taken (a machine key,
      organisation 1) | user_metadata ada_zone: dependency_not_imported (person ada (ada-9)) | project shop:
      id_taken (a project, organisation 1) | project_role shop_other: dependency_not_imported (project shop
      (Stolen)) | oidc_app web: id_taken (an application, organisation 1) | oidc_app mine: dependency_not_imported
      (project shop (Stolen)) | api_app api: id_taken (an application, organisation 1) | action act: id_taken (an
      action, organisation 1) | trigger_action 1_1: dependency_not_imported (action act) | jwt_idp idp: id_taken
      (an identity provider, organisation 1) | user_link new_idp: dependency_not_imported (jwt idp idp) |
      project_grant 9_fresh_2: id_taken (a project grant, organisation 1) | user_grant 9_fresh_ada:
      dependency_not_imported (person ada (ada-9)) | org_member 9_ada: dependency_not_imported (person ada
      (ada-9)) | project_member 9_fresh_ada: dependency_not_imported (person ada (ada-9))`,
  },
  'the second of two records that share an id across organisations stays out': {
    releases: all,
    stored: tenant,
    file: '8 robot twin a; 9 robot twin b; 9 person twin',
    says: `created machineUsers 1, org 2 | failed humanUsers 1, machineUsers 1 | machine_user twin: id_repeated (a
      service user, organisation 8) | human_user twin: id_repeated (a service user, organisation 8)`,
  },
  'nothing is written to records of other organisations that the file does not have': {
    releases: all,
    stored: tenant,
    file: `9 machineKey mine ci; 9 metadata ada zone eHh4; 9 role shop x; 9 web mine shop;
      9 grantMember shop grant ada PROJECT_GRANT_OWNER`,
    says: `created org 1 | failed machineKeys 1, oidcApps 1, projectGrantMembers 1, projectRoles 1, userMetadata 1 |
      machine_user_key mine: reference_foreign (userId, ci, 1) | user_metadata ada_zone: reference_foreign (id,
      ada, 1) | project_role shop_x: reference_foreign (projectId, shop, 1) | oidc_app mine: reference_foreign
      (app.projectId, shop, 1) | project_grant_member 9_shop_grant_ada: reference_foreign (grantId, grant, 1)`,
  },
  'the members of a project grant belong to the organisation to which it is granted': {
    releases: all,
    stored: tenant,
    file: '2 person eve; 2 grantMember shop grant eve PROJECT_GRANT_OWNER',
    says: 'created humanUsers 1, projectGrantMembers 1 | unchanged org 1',
    foreign: 'project.grant.member.added shop',
  },
  'the members of a project grant do not belong to a third organisation': {
    stored: tenant,
    file: '3 person eve; 3 grantMember shop grant eve PROJECT_GRANT_OWNER',
    says: `created humanUsers 1, org 1 | failed projectGrantMembers 1 | project_grant_member 3_shop_grant_eve:
      reference_foreign (grantId, grant, 1)`,
  },
  'an id that a record of another kind has in the same organisation is taken': {
    stored: tenant,
    file: '1 robot ada',
    says: `unchanged org 1 | failed machineUsers 1 | machine_user ada: id_of_other_kind (a person, organisation 1)`,
  },
  'ids that were deleted elsewhere are free': {
    releases: ['4.0', '2026-07'],
    stored: tenant,
    before: deletedIds,
    file: deletedElsewhere,
    says: 'created actions 1, humanUsers 1, machineUsers 1, org 1, projects 1',
    foreign: `user.human.added ada, user.human.initialization.code.added ada, user.human.mfa.otp.added ada,
      user.human.mfa.otp.verified ada, user.machine.added ci, project.added shop, action.added act`,
    leaves: '!1 humanUsers ada; 9 humanUsers ada',
  },
  'ids that were deleted elsewhere are not free in a release that writes to the old owner': {
    releases: ['2.71'],
    stored: tenant,
    before: deletedIds,
    file: deletedElsewhere,
    says: `created org 1 | failed actions 1, humanUsers 1, machineUsers 1, projects 1 |
      human_user ada: id_deleted_elsewhere (a person, organisation 1) |
      machine_user ci: id_deleted_elsewhere (a service user, organisation 1) |
      project shop: id_deleted_elsewhere (a project, organisation 1) |
      action act: id_deleted_elsewhere (an action, organisation 1)`,
    leaves: '!1 humanUsers ada; !9 humanUsers ada',
  },
  'the id of an application that was deleted elsewhere is free': {
    releases: all,
    stored: tenant,
    before: (zitadel) => {
      zitadel.contents.organisations.get('1')?.sections.get('apiApps')?.delete('api');
      event('1', 'project', 'shop', 'project.application.removed', { appId: 'api' })(zitadel);
    },
    file: '9 project fresh; 9 api api fresh',
    says: 'created apiApps 1, org 1, projects 1',
  },
  'an id that was deleted in the same organisation is free': {
    releases: all,
    stored: tenant,
    before: ({ contents }) => contents.remove('1', 'projects', 'shop'),
    file: '1 project shop',
    says: 'created projects 1 | unchanged org 1',
  },
  'a record that the target has deleted and gets again is a warning': {
    releases: all,
    stored: tenant,
    before: ({ contents }) => contents.remove('1', 'humanUsers', 'ada'),
    file: '1 person ada; 1 person ben',
    says: 'created humanUsers 1 | unchanged humanUsers 1, org 1',
    again: 'unchanged humanUsers 2, org 1',
    warns: 'human_user ada: record_recreated',
  },
  'a reference to a deleted record is the error of the ZITADEL': {
    stored: tenant,
    before: ({ contents }) => contents.remove('1', 'humanUsers', 'ada'),
    file: '9 metadata ada zone eHh4',
    says: 'created org 1 | failed userMetadata 1 | user_metadata ada_zone: reference_missing (a user)',
  },
  'an organisation that was deleted is refused with its records': {
    releases: all,
    own: '1 person ada; 1 project shop',
    before: deletedOrganisation,
    file: '1 person new; 1 loginPolicy; 2 person ben',
    says: `created humanUsers 1, org 1 | failed humanUsers 1, loginPolicy 1, org 1 |
      human_user new: organisation_deleted (1) | login_policy 1: organisation_deleted (1) |
      org 1: organisation_deleted (1)`,
  },
  'an organisation that was deleted is refused with its records also if the caller was not its member': {
    releases: all,
    stored: tenant,
    before: deletedOrganisation,
    file: '1 project shop; 1 role shop admin',
    says: `failed org 1, projectRoles 1, projects 1 | project shop: organisation_deleted (1) |
      project_role shop_admin: organisation_deleted (1) | org 1: organisation_deleted (1)`,
  },
  'ids of users, projects and actions that were deleted with their organisation are not free elsewhere': {
    releases: all,
    stored: tenant,
    before: deletedOrganisation,
    file: `${deletedElsewhere}; 9 person ben; 9 person new; 9 member new ORG_OWNER; 9 role shop admin`,
    says: `created humanUsers 1, org 1, orgMembers 1 | failed actions 1, humanUsers 2, machineUsers 1, projectRoles 1,
      projects 1 |
      human_user ada: id_deleted (a person, organisation 1) |
      human_user ben: id_deleted (a person, organisation 1) |
      machine_user ci: id_deleted (a service user, organisation 1) |
      project shop: id_deleted (a project, organisation 1) |
      action act: id_deleted (an action, organisation 1) |
      project_role shop_admin: dependency_not_imported (project shop (Stolen))`,
  },
  'ids of records of other kinds that were deleted with their organisation are free elsewhere': {
    releases: all,
    stored: tenant,
    before: deletedOrganisation,
    file: '9 robot bot; 9 machineKey key bot; 9 project fresh; 9 api api fresh; 9 oidc idp',
    says: 'created apiApps 1, machineKeys 1, machineUsers 1, oidcIdps 1, org 1, projects 1',
  },
  'a user whom another import creates at the same time exists, unless another user has the name': {
    on: { races: (userId) => userId === 'ann' || userId === 'bot' },
    stored: '1 person ada',
    file: '9 person ann; 9 person bob; 9 person twin ada; 9 robot bot',
    says: `created humanUsers 1, org 1 | unchanged humanUsers 1, machineUsers 1 | failed humanUsers 1 | human_user
      twin: login_name_taken`,
    dry: 'created humanUsers 2, machineUsers 1, org 1 | failed humanUsers 1 | human_user twin: login_name_taken',
  },
  'a login name that a user of another organisation has is taken until the user is deleted': {
    releases: all,
    stored: '1 person ada; 1 robot ci; 1 person ben',
    before: ({ contents }) => contents.remove('1', 'humanUsers', 'ben'),
    file: '9 person twin ada; 9 robot bot CI; 9 person new ben',
    says: `created humanUsers 1, org 1 | failed humanUsers 1, machineUsers 1 | human_user twin: login_name_taken |
      machine_user bot: login_name_taken`,
  },
  'a member or a grant of a user whom neither the file nor the target has is rejected': {
    releases: all,
    stored: '1 person ada; 1 robot bot; 1 person gone',
    before: ({ contents }) => contents.remove('1', 'humanUsers', 'gone'),
    file: `9 project shop; 9 member ada ORG_OWNER; 9 member none ORG_OWNER; 9 member gone ORG_OWNER;
      9 authorisation bot shop; 9 authorisation none shop; 9 projectMember shop none PROJECT_OWNER`,
    says: `created org 1, orgMembers 1, projects 1, userGrants 1 | failed orgMembers 2, projectMembers 1, userGrants 1 |
      org_member 9_none: reference_missing (a user) | org_member 9_gone: reference_missing (a user) | user_grant
      9_shop_none: reference_missing (a user) | project_member 9_shop_none: reference_missing (a user)`,
  },
  'a login name is free after its user was renamed, and the new name is taken': {
    stored: '1 person ada; 1 person bob',
    before: (zitadel) => {
      for (const [name, userId] of [
        ['ada', 'none'],
        ['Grace', 'ada'],
      ] as const)
        zitadel.contents.takeLoginName(name, '', userId);
      event('1', 'user', 'ada', 'user.username.changed', { userName: 'Grace' })(zitadel);
    },
    file: '9 person twin ada; 9 person other grace',
    says: 'created humanUsers 1, org 1 | failed humanUsers 1 | human_user other: login_name_taken',
  },
  'a login name is free after its organisation was deleted': {
    stored: '1 person ada; 2 org',
    before: deletedOrganisation,
    file: '9 person twin ada; 9 person other ada',
    says: 'created humanUsers 1, org 1 | failed humanUsers 1 | human_user other: login_name_taken',
  },
  'a login name is free in other organisations if login names contain the domain of the organisation': {
    on: { loginNamesByDomain: true },
    stored: '1 person ada',
    file: '1 person second ada; 9 person twin ada',
    says: 'created humanUsers 1, org 1 | unchanged org 1 | failed humanUsers 1 | human_user second: login_name_taken',
  },
  'a login name is free if the domain policy of its organisation requires the domain': {
    stored: '1 domainPolicy userLoginMustBeDomain=true; 1 person ada',
    file: '9 person twin ada',
    says: 'created humanUsers 1, org 1',
  },
  'a person whom another import creates with other content meanwhile stays, with the manual steps': {
    own: '9 org',
    during: createdMeanwhile,
    file: '9 person ann hash=$P$984478476IagS59wHZvyQMArzfx58u.',
    says: `unchanged org 1 | failed humanUsers 1 | human_user ann: content_kept (user.userName, user.profile,
      user.email)`,
    dry: 'created humanUsers 1 | unchanged org 1',
    warns: 'human_user ann: hash_refused_without_verifier (phpass)',
  },
  'of two people with one id whom another import creates meanwhile, only the first has other content': {
    own: '9 org',
    during: createdMeanwhile,
    file: '9 person ann; 9 person ann user.userName=second',
    says: `unchanged org 1 | failed humanUsers 2 | human_user ann: content_kept (user.userName, user.profile,
      user.email) | human_user ann: record_repeated`,
    dry: 'created humanUsers 1 | unchanged org 1 | notCarried humanUsers 1',
  },
  'what the target does not show at the end is named': {
    on: { lagMs: 600_000 },
    file: '9 person ann',
    says: 'created humanUsers 1, org 1 | human_user ann: creation_not_exported | org 9: creation_not_exported',
    dry: 'created humanUsers 1, org 1',
  },
  'ids of providers of the instance are taken': {
    before: event('instance', 'instance', 'instance', 'instance.idp.saml.added', { id: 'saml' }),
    file: '9 oidc saml',
    says: 'created org 1 | failed oidcIdps 1 | oidc_idp saml: id_taken (an identity provider, the instance)',
  },
  'an instance that hides its oldest events takes no import': {
    stored: tenant,
    before: ({ contents }) => void contents.log.events.shift(),
    file: copy,
    throws: 'does not return its oldest events',
  },
  'aggregates are read one by one if the instance has more events than the file has ids': {
    stored: tenant,
    before: ({ contents }) => {
      for (let batch = 0; batch < 5; batch++)
        contents.append(
          '1',
          Array.from({ length: 700 }, (_, number) => ({
            aggregateType: 'user',
            aggregateId: `${batch}.${number}`,
            type: 'user.human.added',
          })),
        );
    },
    file: '9 robot ben ben-9',
    says: 'created org 1 | failed machineUsers 1 | machine_user ben: id_taken (a person, organisation 1)',
  },
  'a record whose id another organisation takes during the import is named with its place': {
    releases: ['2.71'],
    stored: tenant,
    during: event('1', 'user', 'late', 'user.machine.added'),
    file: '9 robot late; 9 member late ORG_OWNER',
    says: `created org 1 | failed machineUsers 1, orgMembers 1 | machine_user late: id_taken (a service user,
      organisation 1) | org_member 9_late: dependency_not_imported (service user late) | elsewhere machine_user
      late: written_elsewhere (1)`,
    foreign: 'user.machine.added late',
    dry: 'created machineUsers 1, org 1, orgMembers 1',
    leaves: '!9 orgMembers late',
  },
  'a record whose id another organisation takes before it is written is found': {
    stored: tenant,
    during: event('1', 'project', 'late', 'project.added'),
    file: '9 project late',
    says: `created org 1 | failed projects 1 | project late: written_elsewhere (1) | elsewhere project late:
      written_elsewhere (1)`,
    foreign: 'project.added late',
    dry: 'created org 1, projects 1',
  },
  'an application whose id another organisation takes during the import is found': {
    stored: tenant,
    during: event('1', 'project', 'shop', 'project.application.added', { appId: 'late' }),
    file: '9 project fresh; 9 api late fresh',
    says: `created org 1, projects 1 | failed apiApps 1 | api_app late: written_elsewhere (1) | elsewhere api_app late:
      written_elsewhere (1)`,
    dry: 'created apiApps 1, org 1, projects 1',
  },
  'no record of a repeated request that exists elsewhere counts as created': {
    on: { recordsPerSecond: 1 },
    stored: tenant,
    during: (zitadel) => {
      zitadel.contents.users.set('late', '1');
      zitadel.contents.put('1', 'humanUsers', 'late', { userId: 'late' });
      event('1', 'user', 'late', 'user.human.added')(zitadel);
    },
    file: [...Array.from({ length: 60 }, (_, number) => `p${number}`), 'late'].map((id) => `9 person ${id}`).join('; '),
    says: `created humanUsers 60, org 1 | failed humanUsers 1 | human_user late: id_taken (a person, organisation 1)`,
    dry: 'created humanUsers 61, org 1',
  },
  'records that the target neither creates nor shows are not confirmed': {
    on: { drops: ({ section }) => section === 'actions' },
    file: '9 action gone',
    says: 'created org 1 | unconfirmed actions 1 | action gone: creation_unconfirmed',
    dry: 'created actions 1, org 1',
  },
  // The outcomes of records.
  'records with other content stay, and are errors': {
    stored: tenant,
    own: `${ada}; 1 person bob hash=${HASH}`,
    file: `${ada} user.userName=other; 1 person bob hash=${HASH}; 1 person eve; 1 project shop Other`,
    says: `created humanUsers 1 | unchanged humanUsers 1, org 1 | failed humanUsers 1, projects 1 | human_user ada:
      content_kept (user.userName, user.email.isEmailVerified, state) | project shop: content_kept (project.name)`,
  },
  'records with other content are skipped': {
    onConflict: 'skip',
    own: ada,
    file: `${ada} user.userName=other`,
    says: 'unchanged org 1 | skipped humanUsers 1',
    leaves: '1 humanUsers ada user.userName=ada',
  },
  'records with other content are never overwritten': {
    onConflict: 'overwrite',
    file: ada,
    throws: 'ZITADEL never overwrites records: specify --on-conflict report, skip or fail',
  },
  'only new organisations are imported on request': {
    onConflict: 'fail',
    own: ada,
    file: `${ada}; 2 org`,
    throws: 'organisations of the file exist already: 1',
  },
  'a record that breaks a rule is an error, and so is what refers to it': {
    own: '1 project shop',
    file: '1 person unnamed user.userName=none; 1 authorisation unnamed shop',
    says: `unchanged org 1 | failed humanUsers 1, userGrants 1 | human_user unnamed: value_invalid
      (orgs[0].humanUsers[0].user.userName, missing or empty: expected at least 1 character) | user_grant
      1_shop_unnamed: dependency_not_imported (person unnamed)`,
  },
  'the one person whom the rules of requests reject is an error, and all others are imported': {
    on: { rejectsPerson: (userId) => userId === 'ben' },
    file: '1 person ada; 1 person ben; 1 person cy; 1 person dan; 1 person eve',
    says: `created humanUsers 4, org 1 | failed humanUsers 1 | human_user ben: value_invalid (invalid
      ImportDataRequest.DataOrgs: embedded message failed validation)`,
    dry: 'created humanUsers 5, org 1',
  },
  'an e-mail address with letters outside ASCII is refused by an old release': {
    releases: ['2.71'],
    file: `${ada} user.email.email=zoë@customer.example`,
    says: 'created org 1 | failed humanUsers 1 | human_user ada: email_refused',
    dry: 'created humanUsers 1, org 1',
  },
  'values are sent in the form that ZITADEL accepts': {
    file: `1 person ada user.phone.phone=0041791234567 user.profile.preferredLanguage=de_DE.UTF-8;
      1 person ben user.phone.phone=00999; 1 member ada ORG_OWNER UNKNOWN`,
    says: 'created humanUsers 2, org 1, orgMembers 1',
    leaves: '1 humanUsers ada user.phone.phone=+41791234567; 1 humanUsers ada user.profile.preferredLanguage=de-DE',
    warns: `human_user ada: phone_corrected ("0041791234567", +41791234567) | human_user ada: value_converted
      (user.profile.preferredLanguage, "de_DE.UTF-8", "de-DE") | human_user ben: value_dropped ("00999", user.phone) |
      org_member 1_ada: value_dropped ("UNKNOWN", roles)`,
  },
  'the links that a person holds count by what becomes of the person': {
    on: { rejectsPerson: (userId) => userId === 'ben' },
    file: '1 oidc I; 1 linked ada I a ada; 1 linked ben I b ben',
    says: `created humanUsers 1, oidcIdps 1, org 1, userLinks 1 | failed humanUsers 1, userLinks 1 | human_user ben:
      value_invalid (invalid ImportDataRequest.DataOrgs: embedded message failed validation)`,
    dry: 'created humanUsers 2, oidcIdps 1, org 1, userLinks 2',
    again: `unchanged humanUsers 1, oidcIdps 1, org 1, userLinks 1 | failed humanUsers 1, userLinks 1 | human_user ben:
      value_invalid (invalid ImportDataRequest.DataOrgs: embedded message failed validation)`,
  },
  'only the first of two people with one id is carried, with its links': {
    file: '1 oidc I; 1 oidc J; 1 linked ada I a ada; 1 linked ada J b ada user.userName=other',
    says: `created humanUsers 1, oidcIdps 2, org 1, userLinks 1 | failed humanUsers 1 | notCarried userLinks 1 |
      human_user ada: record_repeated`,
    dry: 'created humanUsers 1, oidcIdps 2, org 1, userLinks 1 | notCarried humanUsers 1, userLinks 1',
    leaves: '1 userLinks ada_I; !1 userLinks ada_J',
  },
  'the second of two people with one external identity is an error': {
    file: '1 oidc I; 1 person ada; 1 person ben; 1 link ada I same; 1 link ben I same; 1 link ben I own',
    says: `created humanUsers 2, oidcIdps 1, org 1, userLinks 2 | failed userLinks 1 | user_link ben_I: identity_taken
      (ada_I)`,
    again: `unchanged humanUsers 2, oidcIdps 1, org 1, userLinks 2 | failed userLinks 1 | user_link ben_I:
      identity_taken (ada_I)`,
    leaves: '1 userLinks ben_I providedUserId=own',
  },
  'texts without content are not carried': {
    file: '1 init en Welcome; 1 init de',
    says: 'created initMessages 1, org 1 | notCarried initMessages 1',
  },
  'what ZITADEL cannot take is withheld': {
    file: `1 project 5; 1 role 5 admin; 1 role 5 Admin; 1 oidc 6 6 idp.clientSecret=none; 1 loginPolicy 6;
      1 inviteUser en x`,
    says: `created loginPolicy 1, org 1, projectRoles 1, projects 1 | notCarried inviteUserMessages 1, oidcIdps 1,
      projectRoles 1`,
    warns: `invite_user_messages 1: invitations_not_imported | login_policy 1: providers_missing_in_policy (6) |
      oidc_idp 6: provider_without_secret_rejected | project_role 5_Admin: differs_by_case_only`,
    leaves: '1 projectRoles 5_admin; !1 projectRoles 5_Admin; 1 loginPolicy 1',
  },
  "a member of a project is sent under the project's organisation only, although ZITADEL's exports repeat it": {
    file: '1 person ada; 1 project 5; 1 projectMember 5 ada PROJECT_OWNER; 2 projectMember 5 ada PROJECT_OWNER',
    says: 'created humanUsers 1, org 2, projectMembers 1, projects 1 | notCarried projectMembers 1',
  },
  'the automatic domain and verified domains are created': {
    file: '1 domain x domainName=organisation-1.localhost isVerified=true isPrimary=true; 1 domain one isVerified=true',
    says: 'created domains 2, org 1',
    again: 'unchanged domains 2, org 1',
  },
  'privileges in organisations and projects that existed before are warnings': {
    own: '1 person ada; 1 project 5',
    file: `1 person ada; 1 project 5; 1 member ada ORG_OWNER; 1 projectMember 5 ada PROJECT_OWNER;
      1 domain shop isVerified=true; 2 person bob; 2 project 6; 2 member bob ORG_OWNER;
      2 projectMember 6 bob PROJECT_OWNER`,
    says: `created domains 1, humanUsers 1, org 1, orgMembers 2, projectMembers 2, projects 1 | unchanged humanUsers 1,
      org 1, projects 1`,
    warns: `domain 1_shop.example: domain_added (shop.example, organisation 1) | privilege 1_5_ada: privilege_added
      (ada, PROJECT_OWNER, project 5) | privilege 1_ada: privilege_added (ada, ORG_OWNER, organisation 1)`,
  },
  'a hash that a ZITADEL verifies only if its configuration enables it is sent, and a warning': {
    file: `1 person ada hash=$P$984478476IagS59wHZvyQMArzfx58u.; 1 person bob hash=${HASH}`,
    says: 'created humanUsers 2, org 1',
    warns: 'human_user ada: hash_refused_without_verifier (phpass)',
    leaves: '1 humanUsers ada user.hashedPassword.value=$P$984478476IagS59wHZvyQMArzfx58u.',
  },
  // TOTP seeds.
  'no seed is sent to a person who exists with other content': {
    own: ada,
    file: `${ada} seed=${SEED} user.userName=another`,
    says: `unchanged org 1 | failed humanUsers 1 | human_user ada: content_kept (user.userName) |
      human_user_otp ada: seed_of_different_person`,
    leaves: '1 humanUsers ada user.otpCode=none',
  },
  'no seed is sent to a person who is skipped': {
    onConflict: 'skip',
    own: ada,
    file: `${ada} seed=${SEED} user.userName=another`,
    says: 'unchanged org 1 | failed humanUsers 1 | human_user_otp ada: seed_of_different_person',
    leaves: '1 humanUsers ada user.otpCode=none',
  },
  'the seed of a person whom an earlier import of the caller has created without it is sent': {
    own: ada,
    file: `${ada} seed=${SEED}`,
    says: 'unchanged org 1 | overwritten humanUsers 1',
    leaves: `1 humanUsers ada user.otpCode=${SEED}`,
  },
  'a seed that a person has got since the comparison is unchanged': {
    own: ada,
    during: ({ contents }) => {
      const { user, ...person } = contents.find('1', 'humanUsers', 'ada') ?? {};
      contents.put('1', 'humanUsers', 'ada', { ...person, user: { ...Object(user), otpCode: SEED } });
    },
    file: `${ada} seed=${SEED}`,
    dry: 'unchanged org 1 | overwritten humanUsers 1',
    says: 'unchanged humanUsers 1, org 1',
  },
  ...Object.fromEntries(factorRows),
  'the error of a seed is beside that of its person': {
    on: { drops: ({ section }) => section === 'humanUsers' },
    file: `${ada} seed=${SEED}`,
    says: `created org 1 | unconfirmed humanUsers 1 | human_user ada: creation_unconfirmed | human_user_otp ada:
      reference_missing (a user)`,
    dry: 'created humanUsers 1, org 1',
  },
  // Ends of the call.
  'a single record that does not meet the deadline ends the import': {
    on: { recordsPerSecond: 0 },
    file: '1 person ada; 1 person bob',
    throws: 'the import of a single record, org 1, takes more than 55 s',
  },
  'a token that cannot read who is active ends it, if the ZITADEL imports no states': {
    releases: ['2.71'],
    on: { hidesUsers: true },
    file: '1 person ada',
    throws: '--accept unknown-states',
  },
  'a proxy that removes the header of the organisation ends it': {
    on: { losesContext: () => true },
    file: '1 init en Welcome',
    throws: 'its response is about organisation 400000000000000001 instead of 1',
  },
};
