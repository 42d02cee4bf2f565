import { LANGUAGES, type Language } from '@latchkey/contract/constants';
import { Button } from '#console/ui/button.tsx';
import { LANGUAGE_NAMES } from '#console/ui/labels.ts';

import { EMPTY_TEXT, type Draft } from './draft.ts';

interface LanguageTabsProps {
  readonly draft: Draft;
  readonly selected: Language;
  readonly onSelect: (language: Language) => void;
  readonly onChange: (changes: Partial<Draft>) => void;
}

/** The languages of the mail as tabs; more can be added, and all but the default one removed. */
export function LanguageTabs({ draft, selected, onSelect, onChange }: LanguageTabsProps) {
  const { texts, default_language: first } = draft;
  const written = LANGUAGES.filter((each) => texts[each] !== undefined);
  const missing = LANGUAGES.filter((each) => texts[each] === undefined);

  function add(language: Language): void {
    onChange({ texts: { ...texts, [language]: texts[first] ?? EMPTY_TEXT } });
    onSelect(language);
  }

  function remove(): void {
    const rest = Object.fromEntries(Object.entries(texts).filter(([each]) => each !== selected));
    onChange({ texts: rest });
    onSelect(first);
  }

  return (
    <div class="language-tabs">
      <div class="segments" role="group" aria-label="Language">
        {written.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === selected}
            onClick={() => onSelect(each)}
          >
            {LANGUAGE_NAMES[each]}
            {each === first && written.length > 1 && <span class="dim"> · default</span>}
          </button>
        ))}
      </div>
      {missing.map((each) => (
        <Button key={each} kind="quiet" onClick={() => add(each)}>
          + {LANGUAGE_NAMES[each]}
        </Button>
      ))}
      {selected !== first && (
        <>
          <Button kind="quiet" onClick={() => onChange({ default_language: selected })}>
            Make default
          </Button>
          <Button kind="quiet" onClick={remove}>
            Remove
          </Button>
        </>
      )}
    </div>
  );
}
