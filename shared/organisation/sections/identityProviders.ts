import { defined } from '../../defined.ts';
import { type JsonObject, textAt } from '../../json/jsonObject.ts';
import type { RecordIssue, Reference, UniqueName } from '../relations.ts';
import type { MissingProviders } from '../zitadelFacts.ts';
import type { NestedRecords, OwnProviders, Provider, Section } from './section.ts';
import { identityProvider, own, taken, user } from './sharedReferences.ts';

const providerName: UniqueName = {
  type: 'identityProvider',
  parts: ['$orgId', 'idp.name'],
  taken: taken('Errors.IDPConfig.AlreadyExists'),
};

const providerExists: RecordIssue = { id: 'Org-1J8fs', key: 'Errors.Org.IDPConfig.AlreadyExisting' };

const linkedUser = own(user('userId', 'COMMAND-vzktar7b7f'));

/**
 * The reference from a link to its identity provider. The provider may be missing, because ZITADEL exports all links,
 * but only OIDC and JWT providers.
 */
export const linkedProvider: Reference = {
  ...own(identityProvider('idpId', 'COMMAND-39nf2')),
  keptIfMissing: 'linked_provider_missing',
};

/** ZITADEL rejects a link if the provider is missing. This includes a link inside a person's record. */
export const rejectedLink: MissingProviders = {
  reason: 'link_rejected',
  text: 'ZITADEL rejects this link, because the export does not contain its identity provider',
  remedy: 'create {providers}, then link the person',
};

const identityTaken = taken('Errors.User.ExternalIDP.AlreadyExists');

const userLinkSection: Section = {
  name: 'userLinks',
  collection: 'userLinks',
  phase: 3,
  zitadelStep: 'parts of users',
  key: ['idpId', 'providedUserId'],
  owner: { field: 'userId', taken: identityTaken },
  unique: [{ type: 'userLink', parts: ['idpId', 'providedUserId'], taken: identityTaken }],
  exported: {
    providers: (link) => [textAt(link, 'idpId', '')],
    fill: describeProvider,
    withoutFilled: withoutDescription,
  },
  zitadel: {
    missingProviders: rejectedLink,
  },
  references: [linkedUser, linkedProvider],
  error: { type: 'user_link', id: ['userId', 'idpId'], exists: identityTaken },
  success: {
    field: 'userLinks',
    entry: { userId: 'userId', externalUserId: 'providedUserId', displayName: 'providedUserName', idpId: 'idpId' },
  },
};

const { success: _, ...unlistedLinks } = userLinkSection;

/**
 * The links to identity providers inside a person's record (zitadel 2.5). An import creates these links together with
 * the person, and does not list them in `success`, as in ZITADEL.
 */
export const nestedLinks: NestedRecords = {
  list: 'user.idps',
  section: { ...unlistedLinks, references: [{ ...linkedUser, isParent: true }, linkedProvider] },
  toJson: ({ configId, externalUserId, displayName }, { userId }) => ({
    userId,
    idpId: configId,
    providedUserId: externalUserId,
    ...defined({ providedUserName: displayName }),
  }),
};

export const identityProviderSections: readonly Section[] = [
  {
    name: 'oidcIdps',
    inner: 'idp',
    collection: 'identityProviders',
    phase: 1,
    zitadelStep: 'identity providers',
    key: ['idpId'],
    optional: ['idp.autoRegister'],
    unique: [providerName],
    exported: { providerType: 'IDP_TYPE_OIDC' },
    zitadel: {
      // ZITADEL may migrate a provider to its newer kind of providers. The provider keeps its id, but later exports
      // lack it.
      exportsPartly: true,
      records: [
        {
          does: 'imports not',
          text: 'ZITADEL rejects the whole request if it contains an OIDC provider without a client secret',
          when: ({ credentials }) => credentials.clientSecret === undefined,
          steps: [
            {
              reason: 'provider_without_secret_rejected',
              remedy: 'export with password hashes, or write `clientSecret` into the file',
              applies: ({ clientSecret }) => clientSecret === undefined,
            },
          ],
        },
      ],
    },
    credentials: [{ path: 'idp.clientSecret', field: 'clientSecret', flag: 'withPasswords' }],
    error: { type: 'oidc_idp', id: ['idpId'], exists: providerExists },
    success: { field: 'oidcIpds', entry: ['idpId'] },
  },
  {
    name: 'jwtIdps',
    inner: 'idp',
    collection: 'identityProviders',
    phase: 1,
    zitadelStep: 'identity providers',
    key: ['idpId'],
    optional: ['idp.autoRegister'],
    unique: [providerName],
    // ZITADEL exports a number instead of a name for this type, because ZITADEL's own definition lacks the type.
    exported: { providerType: 2 },
    zitadel: { exportsPartly: true },
    error: { type: 'jwt_idp', id: ['idpId'], exists: providerExists },
    success: { field: 'jwtIdps', entry: ['idpId'] },
  },
  userLinkSection,
];

/**
 * Removes the name and the type of the provider from a link if the provider belongs to the link's organisation. An
 * export adds both fields when it writes the link.
 */
function withoutDescription(link: JsonObject, isOwnProvider: OwnProviders): JsonObject {
  if (!isOwnProvider(textAt(link, 'idpId', ''))) return link;
  const { idpName: _name, idpType: _type, ...rest } = link;
  return rest;
}

/**
 * Adds the provider's name and type to a link. Returns undefined if the link already has both, or if the provider is
 * missing.
 */
function describeProvider(
  link: JsonObject,
  _orgId: string,
  findProvider: (id: string) => Provider | undefined,
): JsonObject | undefined {
  const provider = findProvider(textAt(link, 'idpId', ''));
  if (provider === undefined || (link.idpName === provider.name && link.idpType === provider.type)) return undefined;
  return { ...link, idpName: provider.name, idpType: provider.type };
}
