import { nameVersion, type LanguageTexts } from './template.ts';

/** Colons follow a no-break space, `?` and `;` a narrow one. */
export const french: LanguageTexts = {
  greeting: (name) => (name === null ? 'Bonjour,' : `Bonjour ${name},`),
  closing: 'Bien cordialement,',
  reason: ({ sender, productName }) =>
    `${sender} vous envoie cet e-mail, car ${productName} pourrait vous intéresser.`,
  unsubscribe: 'Ne plus recevoir ce type d’e-mails',
  newsHeading: 'Les nouveautés',
  personal: ({ productName }) => ({
    subject: `Essayez ${productName} pendant une semaine`,
    preview: 'Sept jours d’essai, sans carte bancaire et sans compte.',
    opening: `Je développe ${productName} et je vous écris parce que je pense que ce logiciel pourrait vous être utile.`,
    details:
      'Vous pouvez l’essayer pendant sept jours, sans carte bancaire et sans créer de compte\u00a0: téléchargez-le, ouvrez-le, et la semaine commence.',
    button: `Télécharger ${productName}`,
    ending:
      'S’il vous rend service, tant mieux. S’il lui manque quelque chose, dites-le-moi\u00a0: une réponse à cet e-mail me parvient directement.',
  }),
  sellers: ({ productName }) => ({
    subject: `${productName} pour votre activité et vos clients`,
    preview: 'Pour celles et ceux qui vendent, avec ce logiciel ou le logiciel lui-même.',
    opening: `Je développe ${productName}. Je vous écris parce que vous vendez\u00a0: peut-être avec un logiciel comme celui-ci à vos côtés, peut-être en le proposant à vos clients. Dans les deux cas, il existe une offre faite pour vous.`,
    points: {
      heading: null,
      items: [
        'Une seule licence fonctionne sur plusieurs ordinateurs et passe de l’un à l’autre en une minute.',
        'Elle reste valable même si la connexion est coupée un moment.',
        'Les clés arrivent par e-mail dès le paiement\u00a0: personne n’a besoin de vous attendre.',
      ],
    },
    button: 'Découvrir l’offre pour les vendeurs',
    ending: `Vous souhaitez revendre ${productName}, ou il vous faut plus que ce que propose la page\u202f? Écrivez-moi\u00a0: nous trouverons une formule qui nous convienne.`,
  }),
  update_personal: ({ productName, version }) => ({
    subject:
      version === null
        ? `Nouvelle version disponible\u00a0: ${productName}`
        : `${productName} ${version} est disponible`,
    preview: 'Votre licence reste la même.',
    opening:
      version === null
        ? `Une nouvelle version du logiciel ${productName} vous attend.`
        : `La version ${version} du logiciel ${productName} vous attend.`,
    details:
      'Votre licence reste la même\u00a0: installez la nouvelle version par-dessus l’ancienne et reprenez là où vous en étiez.',
    button: 'Obtenir la nouvelle version',
    link: 'Toutes les modifications',
    ending:
      'Quelque chose ne fonctionne pas comme il faut, ou il vous manque une fonction\u202f? Répondez à cet e-mail\u00a0: je lis toutes les réponses.',
  }),
  update_sellers: ({ productName, version }) => ({
    subject: `${nameVersion(productName, version)}\u00a0: les nouveautés pour les vendeurs`,
    preview: 'Ce qu’il faut savoir avant que vos clients ne vous posent la question.',
    opening: `${version === null ? 'Une nouvelle version' : `La version ${version}`} du logiciel ${productName} est sortie. Voici ce qu’il faut savoir avant que vos clients ne vous posent la question.`,
    points: {
      heading: 'Pour vous et vos clients',
      items: [
        'Toutes les licences restent valables, y compris celles que vous avez vendues.',
        'Vos clients installent la nouvelle version par-dessus l’ancienne\u202f; il n’y a rien à réactiver.',
      ],
    },
    button: 'Lire toutes les nouveautés',
    ending:
      'S’il vous faut un texte ou une image pour vos clients, dites-le-moi et je vous l’enverrai.',
  }),
  pi_tutorials: ({ productName }) => ({
    subject: `Raspberry Pi et ${productName}, pas à pas`,
    preview: 'Des tutoriels qui se terminent par quelque chose qui fonctionne.',
    opening: `Un Raspberry Pi coûte peu, ne prend presque pas de place et fonctionne jour et nuit\u00a0: c’est un bon compagnon pour ${productName}.`,
    details:
      'J’ai donc écrit des tutoriels qui montrent comment les faire travailler ensemble. Chacun commence par ce dont vous avez besoin, donne toutes les commandes et se termine par quelque chose qui fonctionne.',
    button: 'Ouvrir les tutoriels',
    ending:
      'Avez-vous déjà réalisé quelque chose de votre côté\u202f? Montrez-le-moi\u00a0: avec votre accord, je le ferai découvrir à d’autres.',
  }),
};
