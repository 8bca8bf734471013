import type { ExportFileSource } from '../../../shared/exportFile/reader.ts';

/** Writes an export file with the given organisations or the given text. */
export function fileWith(content: readonly object[] | string): ExportFileSource {
  const text = typeof content === 'string' ? content : JSON.stringify({ orgs: content });
  const bytes = Buffer.from(text);
  return {
    async *open() {
      for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536);
    },
  };
}

const HASH = '$2a$14$aPbwhMVJSVrRRW2NoM/5.esSJO6o/EIGzGxWiM5SAEZlGqCsr9DAK';

/** Returns people in the form of ZITADEL's exports, with password hashes. Every tenth has a TOTP seed. */
export function people(count: number, first = 0): { userId: string; state: string; user: object }[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index;
    const email = `person.${number}@customer.example`;
    return {
      userId: `35${String(number).padStart(16, '0')}`,
      state: 'USER_STATE_ACTIVE',
      user: {
        userName: email,
        profile: {
          firstName: 'Zoë',
          lastName: `Nº ${number}`,
          displayName: `Zoë Nº ${number}`,
          preferredLanguage: 'de',
        },
        email: { email, isEmailVerified: true },
        hashedPassword: { value: HASH },
        ...(number % 10 === 0 ? { otpCode: 'JBSWY3DPEHPK3PXP' } : {}),
      },
    };
  });
}
