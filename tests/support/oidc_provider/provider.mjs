// Runs npm's oidc-provider with the configuration in the first argument (JSON). It prints "ready" once it listens.
// Lines on standard input move its clock: "120" puts it two minutes ahead of the machine's.
import { createInterface } from 'node:readline';

const { module, port, issuer, clients, keys, people, claimsInIdToken, authMethods } = JSON.parse(process.argv[2]);

const now = Date.now;
let ahead = 0;
Date.now = () => now() + ahead;

const { default: Provider } = await import(module);

const account = (id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...people[id] }) };

const provider = new Provider(issuer, {
  clients,
  clientAuthMethods: authMethods,
  jwks: { keys },
  findAccount: (_, id) => account(id),
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: !claimsInIdToken,
  enabledJWA: { idTokenSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519', 'HS256'] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: true } },
  cookies: { keys: ['only for tests'] },
  ttl: { Session: 3600, Interaction: 600, Grant: 3600, AuthorizationCode: 60, AccessToken: 300, IdToken: 300 },
});

createInterface({ input: process.stdin }).on('line', (line) => {
  ahead = Number(line) * 1000;
  console.log('moved');
});
provider.listen(port, '127.0.0.1', () => console.log('ready'));
