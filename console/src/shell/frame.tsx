import type { CurrentOperator } from '@latchkey/contract';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { hrefOf, path } from '#console/app/router.ts';
import { hasRole, signOut } from '#console/app/session.ts';
import { NAV_GROUPS, PAGES, type PageEntry } from '#console/pages.ts';
import { Button } from '#console/ui/button.tsx';

import { HelpDialog } from './help-dialog.tsx';
import { SearchDialog } from './search-dialog.tsx';
import { startShortcuts } from './shortcuts.ts';
import { Logo } from '#console/ui/logo.tsx';

interface FrameProps {
  readonly operator: CurrentOperator;
  readonly children?: ComponentChildren;
}

/** The navigation around every page of a signed-in operator. */
export function Frame({ operator, children }: FrameProps) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isSearchOpen, setSearchOpen] = useState(false);
  const { value } = path;
  useEffect(() => setMenuOpen(false), [value]);
  useEffect(
    () => startShortcuts({ help: () => setHelpOpen(true), search: () => setSearchOpen(true) }),
    [],
  );
  return (
    <div class={`frame ${isMenuOpen ? 'menu-open' : ''}`}>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="side">
        <div class="brand">
          <a href={hrefOf('/')}>
            <Logo /> Latchkey
          </a>
          <button
            type="button"
            class="button menu-button"
            aria-expanded={isMenuOpen}
            aria-controls="menu"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            Menu
          </button>
        </div>
        <button
          type="button"
          class="search-open"
          aria-haspopup="dialog"
          onClick={() => setSearchOpen(true)}
        >
          Search <kbd aria-hidden="true">/</kbd>
        </button>
        <div id="menu" class="menu">
          <Navigation current={value} />
          <div class="who">
            <a href={hrefOf('/account')} aria-current={value === '/account' ? 'page' : undefined}>
              <span class="name">{operator.name || operator.email}</span>
              <span class="dim">{operator.role}</span>
            </a>
            <div class="actions">
              <Button kind="quiet" onClick={() => setHelpOpen(true)}>
                Help
              </Button>
              <Button kind="quiet" onClick={signOut}>
                Sign out
              </Button>
            </div>
          </div>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {isSearchOpen && <SearchDialog onClose={() => setSearchOpen(false)} />}
      {isHelpOpen && <HelpDialog onClose={() => setHelpOpen(false)} />}
    </div>
  );
}

function Navigation({ current }: { readonly current: string }) {
  return (
    <nav aria-label="Main">
      {NAV_GROUPS.map((group) => {
        const entries = PAGES.filter(({ nav, role }) => nav?.group === group && hasRole(role));
        if (entries.length === 0) return null;
        return (
          <div key={group} class="group">
            {group !== '' && <h2>{group}</h2>}
            <ul>
              {entries.map((entry) => (
                <li key={entry.path}>
                  <a
                    href={hrefOf(entry.path)}
                    aria-current={isCurrent(entry, current) ? 'page' : undefined}
                  >
                    {entry.nav?.label}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** A list is also current on the pages of its items. */
function isCurrent({ path: own }: PageEntry, current: string): boolean {
  return current === own || (own !== '/' && current.startsWith(`${own}/`));
}
