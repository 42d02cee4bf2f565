/** A package repository on the machine itself, which reaches no mirror: certbot, and a package for an administrator. */
import type { Machine } from './machine.ts';

/** The packages of an installation of certbot. */
export const CERTBOT_PACKAGES = ['certbot', 'python3-acme', 'python3-certbot'] as const;

/** The package that others install. */
export const FOREIGN_PACKAGE = 'memcached';

/** Packages are rebuilt from their installed files (dpkg-deb(1)), and then removed. */
const CREATE_REPOSITORY = `
mkdir -p /opt/repository
for name in ${CERTBOT_PACKAGES.join(' ')}; do
  tree=/opt/trees/$name
  mkdir -p $tree/DEBIAN
  dpkg -L $name | while read -r path; do
    if [ -f "$path" ] || { [ -L "$path" ] && [ ! -d "$path" ]; }; then mkdir -p "$tree$(dirname "$path")"; cp -a "$path" "$tree$path"; fi
  done
  dpkg-query -s $name | awk '/^[^ ]/ { skipped = /^(Status|Conffiles):/ } !skipped' >$tree/DEBIAN/control
  for script in conffiles config postinst postrm preinst prerm templates; do
    if [ -e /var/lib/dpkg/info/$name.$script ]; then cp -a /var/lib/dpkg/info/$name.$script $tree/DEBIAN/$script; fi
  done
done
mkdir -p /opt/trees/${FOREIGN_PACKAGE}/DEBIAN
printf 'Package: ${FOREIGN_PACKAGE}\\nVersion: 1\\nArchitecture: all\\nMaintainer: Nobody <nobody@example.test>\\nDescription: a package of another vendor\\n' >/opt/trees/${FOREIGN_PACKAGE}/DEBIAN/control
cd /opt/repository
for tree in /opt/trees/*; do
  file=$(basename $tree).deb
  dpkg-deb --build $tree $file
  dpkg-deb --field $file >>Packages
  printf 'Filename: ./%s\\nSize: %s\\nSHA256: %s\\n\\n' $file $(stat -c %s $file) $(sha256sum $file | cut -d' ' -f1) >>Packages
done
rm -rf /opt/trees /var/lib/apt/lists/*_* /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/opt/repository ./' >/etc/apt/sources.list
apt-get update
DEBIAN_FRONTEND=noninteractive apt-get purge --yes ${CERTBOT_PACKAGES.join(' ')}
`;

/** Removes certbot from a machine, where apt can install it again. */
export async function offerPackages(machine: Machine): Promise<void> {
  await machine.succeed(['sh', '-ec', CREATE_REPOSITORY], { timeoutMs: 60_000 });
}

/** Returns those of some packages that have installed files. */
export async function listInstalled(
  machine: Machine,
  names: readonly string[],
): Promise<readonly string[]> {
  const show = ['dpkg-query', '--show', '--showformat=${Package} ${db:Status-Status}\n'];
  const { stdout } = await machine.attempt([...show, ...names]);
  const lines = stdout.split('\n').map((line) => line.split(' '));
  return lines.flatMap(([name = '', state]) => (state === 'installed' ? [name] : [])).sort();
}
