import { authentication } from './authentication.ts';
import { bodies } from './bodies.ts';
import type { Judgement } from './judgement.ts';
import { otpEmail } from './otpEmail.ts';
import { remoteCalls } from './remoteCalls.ts';
import { removal } from './removal.ts';
import { requests } from './requests.ts';
import { routes } from './routes.ts';
import { rules } from './rules.ts';

const tables = [authentication, bodies, requests, rules, routes, removal, remoteCalls, otpEmail];

/** The judgement of every recorded answer, by its name. */
export const judgements: ReadonlyMap<string, Judgement> = new Map(tables.flatMap((table) => Object.entries(table)));
