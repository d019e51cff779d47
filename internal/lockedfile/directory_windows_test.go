package lockedfile

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

func TestAccessBy(t *testing.T) {
	t.Parallel()
	const me, other = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002"
	user, err := windows.StringToSid(me)
	if err != nil {
		t.Fatal(err)
	}
	const mine = "O:" + me + "D:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;" + me + ")"
	for name, test := range map[string]struct {
		sd          string
		own, shared bool
	}{
		"a profile":                     {mine, true, false},
		"of the administrators":         {"O:BAD:(A;;FA;;;" + me + ")", true, false},
		"of the system":                 {"O:SYD:(A;;FA;;;" + me + ")", true, false},
		"of another":                    {"O:" + other + "D:(A;;FA;;;" + me + ")", false, false},
		"of all users":                  {"O:BUD:(A;;FA;;;" + me + ")", false, false},
		"the owner's":                   {mine + "(A;;FA;;;S-1-3-4)", true, false},
		"read by all":                   {mine + "(A;;FRFX;;;WD)", true, false},
		"read by another":               {mine + "(A;;FR;;;" + other + ")", true, false},
		"written by all":                {mine + "(A;;FW;;;WD)", true, true},
		"written by who is logged in":   {mine + "(A;;0x1301bf;;;AU)", true, true},
		"files are put there by users":  {mine + "(A;;0x2;;;BU)", true, true},
		"directories are":               {mine + "(A;;0x4;;;BU)", true, true},
		"files are removed by users":    {mine + "(A;;0x40;;;BU)", true, true},
		"the directory is":              {mine + "(A;;SD;;;BU)", true, true},
		"rights are given by another":   {mine + "(A;;WD;;;" + other + ")", true, true},
		"taken by another":              {mine + "(A;;WO;;;" + other + ")", true, true},
		"generic":                       {mine + "(A;;GW;;;" + other + ")", true, true},
		"all that is generic":           {mine + "(A;;GA;;;" + other + ")", true, true},
		"attributes only":               {mine + "(A;;0x100;;;BU)", true, false},
		"only what is in it, by all":    {mine + "(A;OICIIO;FA;;;WD)", true, false},
		"who makes something owns that": {mine + "(A;OICIIO;FA;;;CO)", true, false},
		"denied":                        {"O:" + me + "D:(D;;FA;;;WD)(A;;FA;;;" + me + ")", true, false},
		"allowed to nobody":             {"O:" + me + "D:", true, false},
		"no list":                       {"O:" + me, true, true},
	} {
		sd, err := windows.SecurityDescriptorFromString(test.sd)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if own, shared, err := accessBy(user, sd); err != nil || own != test.own || shared != test.shared {
			t.Errorf("%s: own %t, shared %t, %v; want %t, %t", name, own, shared, err, test.own, test.shared)
		}
	}
}

func TestCheckDirectoryOfAll(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	sd, err := windows.SecurityDescriptorFromString("D:P(A;OICI;FA;;;WD)")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := sd.DACL()
	if err != nil {
		t.Fatal(err)
	}
	if err := windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, list, nil); err != nil {
		t.Fatal(err)
	}
	if err := CheckDirectory(path); err == nil || !strings.HasPrefix(err.Error(), "other users may write to "+path) {
		t.Errorf("have %v", err)
	}
}
