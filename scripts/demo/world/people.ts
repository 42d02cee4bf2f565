/** The customers of the demo's vendor. All addresses end in names that can never exist (RFC 2606). */
import type { Random } from '../random.ts';

export type Language = 'en' | 'fr' | 'de';

export interface Person {
  readonly name: string;
  readonly email: string;
  readonly language: Language;
  /** As a browser or shop reports it. */
  readonly locale: string;
}

interface Region {
  readonly language: Language;
  readonly locales: readonly string[];
  readonly given: readonly string[];
  readonly family: readonly string[];
}

const ENGLISH: Region = {
  language: 'en',
  locales: ['en-US', 'en-GB', 'en-CA', 'en-AU'],
  given: words(
    'Amelia Oliver Priya Marcus Hannah Theo Grace Dylan Aisha Callum Naomi Ethan Ruby Owen Zara Felix Imogen Jonah Keira Rowan Maya Silas Tessa Wesley Nadia',
  ),
  family: words(
    'Hartley Okonkwo Bennett Fletcher Marsh Whitfield Patel Sinclair Donovan Ashby Thornton Lowe Castillo Ferris Grant Holloway Ibrahim Kendall Lambert Merritt Nakamura Pemberton Quill Rhodes Stanton',
  ),
};

const FRENCH: Region = {
  language: 'fr',
  locales: ['fr-FR', 'fr-CA', 'fr-BE'],
  given: words(
    'Camille Lucas Élodie Mathieu Chloé Antoine Léa Hugo Manon Bastien Inès Rémi Juliette Thibault Océane Gaël Margaux Étienne',
  ),
  family: words(
    'Lefèvre Moreau Girard Chevalier Roussel Blanchard Marchand Perrin Delacroix Fontaine Garnier Vidal Lemoine Barbier Renaud Aubert',
  ),
};

const GERMAN: Region = {
  language: 'de',
  locales: ['de-DE', 'de-AT', 'de-CH'],
  given: words(
    'Anna Jonas Lena Maximilian Sophie Paul Mia Felix Johanna Lukas Greta Moritz Clara Niklas Frieda Tobias Svenja Jürgen',
  ),
  family: words(
    'Schröder Weber Hoffmann Lindner Krüger Baumann Vogt Seidel Kessler Brandt Neumann Böhm Ziegler Arnold Winkler Förster',
  ),
};

/** Buyers whose language has no texts: they get English ones. */
const ELSEWHERE: Region = {
  language: 'en',
  locales: ['sv-SE', 'nl-NL', 'es-ES', 'pl-PL', 'ja-JP', 'pt-BR'],
  given: words('Astrid Sven Noor Daan Lucía Mateo Zofia Piotr Yuki Haruto Beatriz Thiago Ingrid'),
  family: words(
    'Lindqvist Björk Jansen Visser Navarro Ortega Kowalska Nowak Tanaka Sato Carvalho Ribeiro',
  ),
};

const STUDIOS = words(
  'northline kestrel-prints paperfield atelier-lune papierwerk blackbird inkhouse fernhill studio-quai linienfabrik harbour-press oakleaf kontur-sieben maison-trait',
);

function words(text: string): readonly string[] {
  return text.split(' ');
}

/** Creates a person. @param number makes the address unique */
export function createPerson(random: Random, number: number): Person {
  const region = random.weighted<Region>([
    [ENGLISH, 46],
    [GERMAN, 22],
    [FRENCH, 18],
    [ELSEWHERE, 14],
  ]);
  const given = random.pick(region.given);
  const family = random.pick(region.family);
  return {
    name: `${given} ${family}`,
    email: `${toAscii(given)}.${toAscii(family)}${number}@${pickDomain(random)}`,
    language: region.language,
    locale: random.pick(region.locales),
  };
}

function pickDomain(random: Random): string {
  if (random.chance(0.7)) return random.pick(['example.com', 'example.org', 'example.net']);
  return `${random.pick(STUDIOS)}.example`;
}

function toAscii(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .normalize('NFD')
    .replaceAll(/[^a-z]/g, '');
}
