using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Threading.Tasks;
using LatchkeyClient;

/// <summary>What a window shows of a license: properties to bind to, and calls for its buttons. It knows neither WPF nor a terminal.</summary>
public sealed class LicenseView : INotifyPropertyChanged
{
    private static readonly Dictionary<string, string> Sentences = new Dictionary<string, string>
    {
        ["activation_inactive"] = "This computer was freed for another one.",
        ["key_mistyped"] = "This key has a typing error.",
        ["license_canceled"] = "The subscription was canceled.",
        ["license_expired"] = "The license has expired.",
        ["license_not_found"] = "There is no license with this key.",
        ["license_paused"] = "The subscription is paused.",
        ["license_refunded"] = "The payment was refunded.",
        ["license_revoked"] = "The license was revoked. Please write to us.",
        ["trial_expired"] = "The trial of this computer is over.",
    };

    private readonly Latchkey latchkey;

    /// <param name="latchkey">An open client.</param>
    /// <param name="dispatch">Runs work on the thread of the window: <c>Dispatcher.BeginInvoke</c> of WPF, <c>Control.BeginInvoke</c> of WinForms.</param>
    public LicenseView(Latchkey latchkey, Action<Action> dispatch)
    {
        this.latchkey = latchkey;
        latchkey.Changed += _ => dispatch(() => PropertyChanged?.Invoke(this, new PropertyChangedEventArgs(null)));
    }

    /// <summary>Without a name: all properties may have changed.</summary>
    public event PropertyChangedEventHandler PropertyChanged;

    public string Title
    {
        get
        {
            LicenseState state = latchkey.State;
            switch (state.Kind)
            {
                case Kind.Licensed: return "Licensed: " + state.Tier;
                case Kind.Trial: return "Trial";
                case Kind.None: return "No license";
                case Kind.Refused: return "The license was refused";
                default: return state.Reason == "license_expired" ? "The license has ended" : "Please connect to the internet";
            }
        }
    }

    public string Text
    {
        get
        {
            LicenseState state = latchkey.State;
            string clock = state.ClockWentBack ? " The clock of this computer is wrong: please correct it." : "";
            return Describe(state) + clock;
        }
    }

    /// <summary>The outcome of the last call; an empty text if it worked.</summary>
    public string Message { get; private set; } = "";

    /// <summary>The machines of a license that is in use on too many.</summary>
    public IReadOnlyList<Machine> Machines { get; private set; } = new Machine[0];

    public bool CanExport => latchkey.State.MayRun;

    public bool CanStartTrial => latchkey.State.Kind == Kind.None;

    public bool CanDeactivate => latchkey.State.Kind == Kind.Licensed;

    public async Task ActivateAsync(string key)
    {
        Result result = await latchkey.ActivateAsync(key);
        Result listed = result.Code == "activation_limit_reached" ? await latchkey.MachinesAsync() : null;
        Show(result, listed?.Machines ?? new Machine[0]);
    }

    public async Task StartTrialAsync()
    {
        Show(await latchkey.StartTrialAsync(), new Machine[0]);
    }

    public async Task CheckAsync()
    {
        Show(await latchkey.CheckAsync(), new Machine[0]);
    }

    /// <summary>Frees one of <see cref="Machines"/> for this one.</summary>
    public async Task MoveHereAsync(Machine machine)
    {
        Show(await latchkey.MoveHereAsync(machine.ActivationId), new Machine[0]);
    }

    public async Task DeactivateAsync()
    {
        Show(await latchkey.DeactivateAsync(), new Machine[0]);
    }

    /// <summary>The program itself: it exports pictures, and faster with the feature <c>gpu</c>.</summary>
    public string Export()
    {
        if (!CanExport) return "Export needs a license.";
        bool isFast = latchkey.Has("gpu");
        latchkey.Track("export_finished", new Dictionary<string, object> { ["gpu"] = isFast });
        return isFast ? "Exported on the graphics card." : "Exported.";
    }

    private void Show(Result result, IReadOnlyList<Machine> machines)
    {
        Message = Describe(result);
        Machines = machines;
        PropertyChanged?.Invoke(this, new PropertyChangedEventArgs(null));
    }

    private static string Describe(LicenseState state)
    {
        switch (state.Kind)
        {
            case Kind.Licensed: return "Runs without a network for " + state.DaysLeft + " days.";
            case Kind.Trial: return state.DaysLeft + " days left.";
            case Kind.None: return "Enter a key, or try the program for some days.";
            case Kind.Refused: return Sentences.TryGetValue(state.Reason, out string sentence) ? sentence : state.Reason;
            default: return state.Reason == "license_expired" ? "Buy another one, and enter its key." : "The program renews its license then.";
        }
    }

    private static string Describe(Result result)
    {
        if (result.Ok) return "";
        if (result.Cause != null) return "No answer (" + result.Cause + "). Nothing changed; the program tries again.";
        if (result.Code == "activation_limit_reached") return "The license is in use on " + (result.Max == 1 ? "one computer" : result.Max + " computers") + ". Choose one to free.";
        if (result.Code == "move_limit_reached") return "Moved too often; possible again at " + result.AvailableAt + ".";
        return Sentences.TryGetValue(result.Code, out string sentence) ? sentence : "Not possible: " + result.Code + ".";
    }
}
