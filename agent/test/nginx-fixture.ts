import type { ProxyOptions } from '#agent/install/proxy-options.ts';
import { paths } from '#agent/install/paths.ts';
import { DOMAIN } from './proxy-client.ts';
import { type Certificate, CertificateFixture } from './certificates.ts';
import { nginxVersion } from './nginx-process.ts';

/** The certificates of nginx, the agent and viewers, and the route between them. */
export class NginxFixture extends CertificateFixture {
  readonly web = this.createRoot('web').issueServer();
  readonly authority = this.createRoot('clients');
  readonly anna = this.authority.issueClient('anna');
  /** A revoked certificate. */
  readonly berta = this.authority.issueClient('berta');
  readonly proxy = this.authority.issueProxy();
  readonly revocations = this.authority.writeRevocations([this.berta]);

  readonly options: ProxyOptions = {
    domain: DOMAIN,
    proxyPath: '/latchkey',
    mutualTls: false,
    agentPort: 4096,
    viewersPerAddress: 64,
    version: nginxVersion,
    hasIpv6: false,
    needsChallenge: true,
    certificate: this.web.certificateFile,
    certificateKey: this.web.keyFile,
  };

  /** Creates a viewer's certificate that has expired. */
  makeExpired(): Certificate {
    const extensions = 'extendedKeyUsage=clientAuth\n';
    return this.read(this.sign(this.authority.own, 'expired', { extensions, days: -1 }));
  }

  /** Replaces ports and paths in the rendered texts by those of the test. */
  place(text: string, port: number, agentPort: number): string {
    return text
      .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
      .replaceAll('https://127.0.0.1:4096', `https://127.0.0.1:${agentPort}`)
      .replaceAll(paths.authorityCertificate, this.authority.own.certificateFile)
      .replaceAll(paths.revocations, this.revocations)
      .replaceAll(paths.proxyCertificateKey, this.proxy.keyFile)
      .replaceAll(paths.proxyCertificate, this.proxy.certificateFile);
  }
}
